import t from 'tap'
import { workspace } from './command.ts'

t.test('an address is set, listed and left to the data again', async (t) => {
  const { command, object } = workspace(t)
  const ip = command.bind(undefined, 'ip')
  t.match(await ip('list'), { code: 0, out: 'No class is set.\n' })
  const set = '8.8.4.4 is datacenter until you unset it.\n'
  t.match(await ip('set', '8.8.4.4', '--class', 'datacenter'), { code: 0, out: set })
  const shown = await object('ip', 'set', '2a00::0:1', '--class', 'vpn', '--ttl', '12h', '--provider', 'Tunnels')
  t.match(shown, { address: '2a00::1', class: 'vpn', origin: 'operator', provider: 'Tunnels', note: '' })
  t.equal(Date.parse(shown.until) - Date.parse(shown.set), 12 * 3_600_000)
  t.match(await object('ip', 'list'), [{ address: '2a00::1' }, { address: '8.8.4.4' }])
  t.match((await ip('list')).out, /address .*\n2a00::1 .* Tunnels .*\n8\.8\.4\.4 +datacenter +operator .* unset/)
  const wide = '8.8.0.0/16 is hosting until you unset it.\n'
  t.match(await ip('set', '8.8.0.9/16', '--class', 'hosting'), { out: wide })
  t.match(await command('lookup', '8.8.7.7'), { out: /hosting by ip_state, confidence 1/ })
  t.match(await command('lookup', '8.8.4.4'), { out: /datacenter by ip_state/ }, 'the longer one counts')
  t.match(await object('ip', 'unset', '8.8.4.4'), { unset: true })
  t.match(await ip('unset', '8.8.4.4'), { code: 1, err: 'sallyport: 8.8.4.4 has no override.\n' })
})

t.test('a class that cannot be set is refused with the reason', async (t) => {
  const { command } = workspace(t)
  for (const [argv, code, err] of [
    [['set', 'nonsense', '--class', 'vpn'], 2, /not an IPv4 or IPv6 address/],
    [['set', '8.8.4.4'], 2, /--class/],
    [['set', '8.8.4.4', '--class', 'martian'], 2, /residential_clean, mobile/],
    [['set', '8.8.4.4', '--class', 'vpn', '--ttl', '5'], 2, /s, m, h or d/],
    [['set', '8.8.4.4', '--class', 'vpn', '--ttl', '0s'], 2, /s, m, h or d/],
    [['set', '8.8.4.4', '--class', 'vpn', '--ttl', '99999d'], 2, /at most 3660d/],
    [['set', '192.168.1.1', '--class', 'vpn'], 1, /reserved \(private\)/],
    [['set', '192.168.0.0/16', '--class', 'vpn'], 1, /reserved \(private\)/],
    [['set', '8.8.4.0/33', '--class', 'vpn'], 2, /not an IPv4 or IPv6 address or CIDR/],
    [['unset', '8.8.4.0/24'], 1, /8\.8\.4\.0\/24 has no override/],
  ] as const)
    t.match(await command('ip', ...argv), { code, err }, argv.join(' '))
})
