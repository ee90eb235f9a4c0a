import { createPathTable, pathPatternFault, readPath } from '@sallyport/core'
import { PROBES } from '@sallyport/data/probes'
import t from 'tap'

const PATTERNS = PROBES.map(({ path }) => path)
const findRow = createPathTable(PATTERNS)

t.test('every row is a path as policies write it, there once, with its reason', async (t) => {
  for (const { path, reason } of PROBES) {
    t.equal(pathPatternFault(path), undefined, path)
    t.match(reason, /^\S.{9,}[^.]$/, path)
    const example = path.replace('/**', '/any').replaceAll('*', 'any')
    t.equal(findRow(readPath(example)), path, `${example} is of its own row`)
  }
  t.equal(new Set(PATTERNS.map((path) => path.toLowerCase())).size, PATTERNS.length)
})

t.test('spellings of a probe are one row, and a target that may be too many paths is none', async (t) => {
  for (const target of ['/.ENV', '//.env', '/.env/', '/%2eenv', '/x/../.env', '/.env?x=1', '/./.env'])
    t.equal(findRow(readPath(target)), '/.env', target)
  t.equal(findRow(readPath('/shop/.env')), '/*/.env')
  t.equal(findRow(readPath('/vendor/phpunit/phpunit/src/Util/PHP/eval-stdin.php')), '/vendor/phpunit/**')
  t.equal(createPathTable(['/trap'])({ path: '/other', readings: [] }), undefined)
  t.equal(createPathTable(['/trap'])({ path: '/trap', readings: [] }), '/trap')
})

t.test('what people, browsers, feeds and monitors ask for is no probe', async (t) => {
  const ordinary = `
    / /index.php /favicon.ico /robots.txt /sitemap.xml /ads.txt /manifest.json /sw.js /.well-known/security.txt
    /.well-known/acme-challenge/x /apple-touch-icon.png /feed /healthz /wp-admin/ /wp-admin/admin-ajax.php
    /wp-json/wp/v2/users/me /wp-cron.php /wp-content/uploads/a.jpg /actuator/health /actuator/prometheus /metrics
    /graphql /swagger/index.html /config.json /appsettings.json /autodiscover/autodiscover.xml /env /git
    /user/login /administrator /v1/myip
  `
  for (const target of ordinary.trim().split(/\s+/)) t.equal(findRow(readPath(target)), undefined, target)
})
