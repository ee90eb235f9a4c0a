import { useState } from 'preact/hooks'
import { Failure, linkFailure, signIn } from '../api.ts'
import { Field } from '../parts/ask.tsx'
import { Plain } from '../parts/buttons.tsx'
import { readForm } from '../parts/load.tsx'

/** Asks for a token, which is exchanged for a session and stored nowhere. */
export function SignIn({ onLeave }: { onLeave?: (() => void) | undefined }) {
  const [refused, setFailure] = useState<string | undefined>(undefined)
  const failure = refused ?? linkFailure.value
  const submit = async (event: SubmitEvent): Promise<void> => {
    try {
      await signIn('Bearer', readForm(event)['token'] ?? '')
    } catch (error) {
      setFailure(error instanceof Failure ? error.message : 'This token contains invalid characters.')
    }
  }
  return (
    <section class="sign-in card" aria-label="Sign in">
      <h1>Sign in</h1>
      <p class="quiet">
        To read, open the link that the service printed at startup, or run <code>npx sallyport console</code>. To make
        changes, use the administrator token: <code>console.adminToken</code>, or the file <code>console-token</code> in
        dataDir.
      </p>
      <form onSubmit={(event) => void submit(event)}>
        <Field label="Token" type="password" name="token" autocomplete="current-password" required />
        {failure !== undefined && (
          <p class="failure" role="alert">
            {failure}
          </p>
        )}
        <button type="submit">Sign in</button>
        {onLeave && <Plain onClick={onLeave}>Back</Plain>}
      </form>
    </section>
  )
}
