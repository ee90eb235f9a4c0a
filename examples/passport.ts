// An Express site whose login by Passport is guarded: guesses of a password are challenged from the eleventh on, from any address.
// Try, some times: curl -d 'email=ada@shop.example&password=guess' http://127.0.0.1:3000/login
import type { AddressInfo } from 'node:net'
import { challenge, inspection, open, v1 } from '@sallyport/express'
import express from 'express'
import passport from 'passport'
import { Strategy } from 'passport-local'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  net: { outbound: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }], limits: ['account-guard'] },
})

// Yours, with hashes.
const users = new Map([['ada@shop.example', { id: '17', password: 'of Ada' }]])
passport.use(
  new Strategy({ usernameField: 'email' }, (email, password, done) => {
    const user = users.get(email)
    done(null, user?.password === password ? user : false)
  }),
)

const app = express()
app.use(inspection(sallyport), v1(sallyport), express.urlencoded())
app.get('/', (req, res) => {
  const { action, inspection } = req.sallyport ?? {}
  res.json({ action, networkClass: inspection?.network.verdict.classification })
})

const ask = challenge(sallyport, { level: 2, pass: '1m' })
app.post('/login', async (req, res, next) => {
  const known = users.get(req.body.email)
  const refuse = () => void res.status(401).json({ error: 'The address or the password is wrong.' })
  const passes = async (outcome?: 'success' | 'failure' | 'unknown_user') => {
    const event = { event: 'login', user: known?.id, identifier: req.body.email, outcome } as const
    const { action } = await sallyport.accounts.assess(req, event)
    if (action === 'allow' || action === 'flag') return true
    return action === 'challenge' ? ask(req, res, refuse) : refuse()
  }
  const signIn: passport.AuthenticateCallback = async (error, user) => {
    if (error) return next(error)
    if (!(await passes(user ? 'success' : known ? 'failure' : 'unknown_user'))) return
    if (user) res.json({ welcome: known?.id })
    else refuse()
  }
  if (await passes()) passport.authenticate('local', { session: false }, signIn)(req, res, next)
})

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.close(() => sallyport.close()))
}
