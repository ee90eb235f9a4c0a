import { z } from 'zod'
import { key, SECRET } from './key.ts'
import { HTTP } from './schema-edge.ts'

const Crowdsec = z.strictObject({
  url: key(z.url(HTTP), 'URL of the local API of CrowdSec that bans are sent to', 'http://127.0.0.1:8080'),
  machine: key(
    z.string().regex(/^[\x21-\x7e]{1,255}$/, 'must be the name of a machine'),
    'Name of the machine, as cscli machines add gave it',
    'sallyport',
  ),
  password: key(z.string().min(1), 'Password of that machine', 'file:/run/secrets/crowdsec', SECRET),
})

/** Bans for others to carry out. */
export const Bans = z.strictObject({
  export: z
    .strictObject({
      nftables: key(
        z
          .string()
          .regex(/^\/[^\0\n]{1,100}$/, 'must be the path of a socket, from / on')
          .optional(),
        'Socket of sallyport-nft, which keeps the bans in a set of the firewall; absent: none',
        '/run/sallyport-nft/socket',
      ),
      crowdsec: Crowdsec.optional().describe('CrowdSec, which bans are sent to; absent: none are'),
      list: key(
        z.boolean().default(false),
        'Whether GET /bans.txt of the admin listener lists the bans, one a line',
        true,
      ),
    })
    .prefault({})
    .describe('Other programs that carry out the bans'),
})
