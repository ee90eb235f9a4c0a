import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure, session, signOut } from './api.ts'
import { Plain } from './parts/buttons.tsx'
import { Failed, Loading } from './parts/load.tsx'
import { linkTo, place } from './route.ts'
import { VIEWS, type View } from './views/index.ts'
import { SignIn } from './views/sign-in.tsx'

const ROLES = { read: 'Read only', steer: 'Steers', admin: 'Administrator' } as const

export function App() {
  const current = VIEWS.find(({ id }) => id === place.value.view) ?? VIEWS[0]
  const who = session.value
  const [isSigningIn, setSigningIn] = useState(false)
  useEffect(() => {
    document.title = `${current?.title ?? 'Console'} · Sallyport`
  }, [current])
  useEffect(() => {
    setSigningIn(false)
  }, [who?.role])
  if (who === undefined) return <Loading />
  if (who.role === null) {
    return (
      <main>
        <SignIn />
      </main>
    )
  }
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <header class="side">
        <a class="brand" href={linkTo('live')}>
          <img src="/assets/icon.svg" alt="" width="26" height="26" /> Sallyport
        </a>
        <nav aria-label="Views">
          {VIEWS.filter(({ isHidden }) => !isHidden).map(({ id, title }) => (
            <a key={id} href={linkTo(id)} aria-current={id === current?.id ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <div class="who">
          <p class="quiet">{ROLES[who.role]}</p>
          {who.role !== 'admin' && <Plain onClick={() => setSigningIn(true)}>Sign in</Plain>}
          <Plain onClick={() => void signOut()}>Sign out</Plain>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {isSigningIn ? (
          <SignIn onLeave={() => setSigningIn(false)} />
        ) : (
          current && <Viewed key={current.id} view={current} />
        )}
      </main>
    </div>
  )
}

/** Shows a view, whose code loads when a visitor first opens it. */
function Viewed({ view }: { view: View }) {
  const [Loaded, setLoaded] = useState<ComponentType | Failure | undefined>(undefined)
  useEffect(() => {
    view.load().then(
      (component) => setLoaded(() => component),
      () => setLoaded(new Failure('unreachable', 'The proxy does not respond, or was updated. Reload this page.')),
    )
  }, [view])
  return (
    <>
      <h1>{view.title}</h1>
      {Loaded instanceof Failure ? (
        // A browser remembers that a script was missing until the page is loaded again.
        <Failed failure={Loaded} again={() => location.reload()} />
      ) : Loaded === undefined ? (
        <Loading />
      ) : (
        <Loaded />
      )}
    </>
  )
}
