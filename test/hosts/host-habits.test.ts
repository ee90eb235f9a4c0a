import supertest from 'supertest'
import t from 'tap'
import { FRAMEWORKS } from './frameworks.ts'
import { keepHabits } from './habits.ts'
import { HOSTS } from './hosts.ts'
import { MORE_HOSTS } from './more-hosts.ts'
import { madeScene } from './scene.ts'

/* Tests the habits of servers (habits.ts) and of a tool by which people test their sites. */
const { allowed, blocked, enforcing } = madeScene()

for (const host of [...HOSTS, ...MORE_HOSTS]) keepHabits(host)

t.test('supertest asks a site that has no server of its own', async (t) => {
  for (const [name, create] of Object.entries(FRAMEWORKS)) {
    const app = await create(enforcing, () => ({ came: true }))
    const ask = (address: string) => supertest(app).get('/shop').set('X-Forwarded-For', address)
    t.same((await ask(allowed.address)).body, { came: true }, name)
    t.equal((await ask(blocked.address)).status, 403, name)
  }
})
