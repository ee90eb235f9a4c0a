/** A kind of service, as the table of the documents groups them. */
export type ServiceKind =
  | 'webhooks'
  | 'health checks'
  | 'monitors'
  | 'podcasts and calendars'
  | 'applications'
  | 'federation'
  | 'feeds'
  | 'mail images'
  | 'previews and checkers'
  | 'updates'
  | 'people'

/** A program or a browser that a site wants, as it asks. Facts are of the service's documents or of recorded requests. */
export interface Service {
  readonly name: string
  readonly kind: ServiceKind
  /** The place of the facts. */
  readonly from: string
  readonly ip: string
  readonly method?: 'GET' | 'HEAD' | 'POST' | undefined
  readonly path: string
  /** Fields beside Host. */
  readonly headers: Readonly<Record<string, string>>
  /** Requests of a client in a minute. */
  readonly perMinute: number
  /** Clients with addresses beside each other's that ask as often in the same minute; default 1. */
  readonly clients?: number | undefined
  readonly trustProxy?: readonly string[] | undefined
  readonly httpVersion?: string | undefined
}

const JSON_BODY = { Accept: '*/*', 'Content-Type': 'application/json' }
const HOOK = { method: 'POST', kind: 'webhooks' } as const
const CHECK = { kind: 'health checks', path: '/healthz' } as const
const OBJECT = 'application/activity+json, application/ld+json'
const FEED = 'application/rss+xml, application/atom+xml, */*'
const PAGE = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

const FIREFOX = {
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0',
  Accept: PAGE,
  'Accept-Language': 'en-US,en;q=0.9',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  'Upgrade-Insecure-Requests': '1',
  'Sec-Fetch-Dest': 'document',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-Site': 'none',
}
const SAFARI = {
  'User-Agent':
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Language': 'en-US,en;q=0.9',
  'Accept-Encoding': 'gzip, deflate, br',
  'Sec-Fetch-Dest': 'document',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-Site': 'none',
}

const STRIPE = 'Stripe/1.0 (+https://stripe.com/docs/webhooks)'
const agent = (name: string, accept = '*/*') => ({ 'User-Agent': name, Accept: accept })
const webhook = (name?: string) => (name === undefined ? JSON_BODY : { 'User-Agent': name, ...JSON_BODY })

/** The services that no preset refuses, but where its document says so. */
export const SERVICES: readonly Service[] = [
  { ...HOOK, name: 'Stripe', from: 'docs.stripe.com/webhooks', ip: '54.187.174.169', path: '/webhooks/stripe', headers: webhook(STRIPE), perMinute: 100 },
  { ...HOOK, name: 'PayPal', from: 'developer.paypal.com/api/rest/webhooks', ip: '66.211.170.66', path: '/webhooks/paypal', headers: webhook('PayPal/AUHR-214.0-58843781'), perMinute: 60 },
  { ...HOOK, name: 'Adyen', from: 'docs.adyen.com/development-resources/webhooks', ip: '82.199.87.131', path: '/webhooks/adyen', headers: webhook('Adyen HttpClient 1.0'), perMinute: 60 },
  { ...HOOK, name: 'Viva, without a user agent', from: 'VivaPayments/API#2597', ip: '51.138.37.10', path: '/webhooks/pay', headers: webhook(), perMinute: 60 },
  { ...HOOK, name: 'Mollie', from: 'docs.mollie.com/reference/webhooks', ip: '87.233.217.245', path: '/webhooks/mollie', headers: { 'User-Agent': 'Mollie HTTP client/1.0', Accept: '*/*', 'Content-Type': 'application/x-www-form-urlencoded' }, perMinute: 60 },
  { ...HOOK, name: 'Square', from: 'developer.squareup.com/docs/webhooks', ip: '54.212.177.79', path: '/webhooks/square', headers: webhook('Square Connect v2'), perMinute: 60 },
  { ...HOOK, name: 'GitHub', from: 'docs.github.com/en/webhooks', ip: '140.82.115.10', path: '/hooks/github', headers: webhook('GitHub-Hookshot/760256b'), perMinute: 60 },
  { ...HOOK, name: 'GitLab.com', from: 'docs.gitlab.com/user/project/integrations/webhooks', ip: '34.74.90.70', path: '/hooks/gitlab', headers: webhook('GitLab/17.5.0-pre'), perMinute: 60 },
  { ...HOOK, name: 'Twilio', from: 'www.twilio.com/docs/usage/webhooks', ip: '54.172.60.10', path: '/sms', headers: { 'User-Agent': 'TwilioProxy/1.1', Accept: '*/*', 'Content-Type': 'application/x-www-form-urlencoded' }, perMinute: 100 },
  { ...HOOK, name: 'Slack events', from: 'docs.slack.dev/apis/events-api', ip: '54.174.1.10', path: '/slack/events', headers: webhook('Slackbot 1.0 (+https://api.slack.com/robots)'), perMinute: 60 },
  { ...HOOK, name: 'Discord interactions', from: 'docs.discord.com/developers/interactions', ip: '35.196.132.10', path: '/interactions', headers: webhook('Discord-Interactions/1.0 (+https://discord.com)'), perMinute: 60 },
  { ...HOOK, name: 'A library that sends webhooks', from: 'standardwebhooks.com', ip: '5.9.10.20', path: '/hooks/order', headers: webhook('python-requests/2.32.3'), perMinute: 60 },
  { ...CHECK, name: 'Google Cloud, named by trustProxy', from: 'cloud.google.com/load-balancing/docs/health-check-concepts', ip: '35.191.10.20', headers: { 'User-Agent': 'GoogleHC/1.0', Connection: 'Keep-alive' }, perMinute: 120, trustProxy: ['gcp'] },
  { ...CHECK, name: 'Google Cloud', from: 'ingress-gce#137', ip: '130.211.1.20', headers: { 'User-Agent': 'GoogleHC/1.0' }, perMinute: 12, clients: 12 },
  { ...CHECK, name: 'Elastic Load Balancing', from: 'discourse#41569', ip: '10.0.1.20', headers: { 'User-Agent': 'ELB-HealthChecker/2.0' }, perMinute: 60 },
  { ...CHECK, name: 'Elastic Load Balancing, public', from: 'docs.aws.amazon.com/elasticloadbalancing', ip: '54.187.10.20', headers: { 'User-Agent': 'ELB-HealthChecker/2.0' }, perMinute: 12 },
  { ...CHECK, name: 'Route 53', from: 'docs.aws.amazon.com/Route53', ip: '54.183.255.130', headers: agent('Amazon-Route53-Health-Check-Service (ref 6b2f; report http://amzn.to/1vsZADi)'), perMinute: 6, clients: 16 },
  { ...CHECK, name: 'Azure Load Balancer', from: 'learn.microsoft.com/azure/load-balancer', ip: '168.63.129.16', headers: { 'User-Agent': 'Load Balancer Agent' }, perMinute: 12 },
  { ...CHECK, name: 'Azure Front Door', from: 'learn.microsoft.com/azure/frontdoor/health-probes', ip: '147.243.10.20', method: 'HEAD', headers: { 'User-Agent': 'Edge Health Probe' }, perMinute: 12, clients: 16 },
  { ...CHECK, name: 'Cloudflare', from: 'developers.cloudflare.com/health-checks', ip: '172.70.10.20', headers: { 'User-Agent': 'Mozilla/5.0 (compatible;Cloudflare-Healthchecks/1.0;+https://www.cloudflare.com/; healthcheck-id: 5f1)' }, perMinute: 12 },
  { ...CHECK, name: 'Kubernetes', from: 'kubernetes.io/docs', ip: '10.4.0.1', headers: { 'User-Agent': 'kube-probe/1.33', Accept: '*/*', Connection: 'close' }, perMinute: 60 },
  { ...CHECK, name: 'DigitalOcean', from: 'docs.digitalocean.com/products/uptime', ip: '188.166.10.20', headers: agent('DigitalOcean Uptime Probe 0.22.0 (https://digitalocean.com)'), perMinute: 4 },
  { ...CHECK, name: 'Oracle Cloud', from: 'docs.oracle.com/iaas/Content/HealthChecks', ip: '129.146.10.20', headers: agent('Oracle Health Checks'), perMinute: 6 },
  { ...CHECK, name: 'A balancer of your own, without a user agent', from: 'docs.haproxy.org', ip: '5.9.10.30', headers: { Connection: 'close' }, httpVersion: '1.0', perMinute: 30, trustProxy: ['5.9.10.30'] },
  { ...CHECK, name: 'Traefik, named by trustProxy', from: 'doc.traefik.io', ip: '5.9.10.31', headers: { 'User-Agent': 'Go-http-client/1.1' }, perMinute: 60, trustProxy: ['5.9.10.31'] },
  { kind: 'monitors', name: 'UptimeRobot', from: 'uptimerobot.com/help/locations', ip: '69.162.124.228', method: 'HEAD', path: '/', headers: agent('Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)'), perMinute: 2 },
  { kind: 'monitors', name: 'Pingdom', from: 'documentation.solarwinds.com/pingdom', ip: '5.9.11.20', path: '/', headers: agent('Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)'), perMinute: 2 },
  { kind: 'monitors', name: 'Better Stack', from: 'betterstack.com/docs/uptime', ip: '5.9.12.20', path: '/', headers: agent('Better Stack Better Uptime Bot Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36'), perMinute: 4 },
  { kind: 'monitors', name: 'Uptime Kuma', from: 'louislam/uptime-kuma', ip: '5.9.13.20', path: '/', headers: agent('Uptime-Kuma/1.23.16', 'text/html,application/xhtml+xml'), perMinute: 3 },
  { kind: 'monitors', name: 'StatusCake', from: 'statuscake.com/kb', ip: '188.166.11.20', path: '/', headers: agent('Mozilla/5.0 (Windows NT 6.2; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/98 Safari/537.36 (StatusCake)'), perMinute: 2 },
  { kind: 'podcasts and calendars', name: 'AntennaPod behind WARP', from: 'AntennaPod#4813', ip: '104.28.200.20', path: '/audio/e1.mp3', headers: agent('AntennaPod/3.9.0'), perMinute: 6 },
  { kind: 'podcasts and calendars', name: 'Overcast', from: 'overcast.fm/podcasterinfo', ip: '54.187.12.20', path: '/show/feed', headers: agent('Overcast/1.0 Podcast Sync (123 subscribers; feed-id=1; +http://overcast.fm/)'), perMinute: 6 },
  { kind: 'podcasts and calendars', name: 'Apple Podcasts behind the relay', from: 'podcasters.apple.com/support', ip: '172.224.226.10', path: '/audio/e1.mp3', headers: agent('Podcasts/4025.410.2 CFNetwork/1568.200.51 Darwin/24.1.0'), perMinute: 12 },
  { kind: 'podcasts and calendars', name: 'Pocket Casts behind Zscaler', from: 'support.pocketcasts.com', ip: '165.225.10.20', path: '/audio/e1.mp3', headers: agent('Pocket Casts/1.0'), perMinute: 6 },
  { kind: 'podcasts and calendars', name: 'iOS calendar behind Zscaler', from: 'nextcloud/server#12345', ip: '165.225.10.21', path: '/calendar/team.ics', headers: agent('iOS/18.5 (22F76) dataaccessd/1.0'), perMinute: 6 },
  { kind: 'podcasts and calendars', name: 'Google Calendar', from: 'support.google.com/calendar', ip: '66.249.83.10', path: '/calendar/team.ics', headers: agent('Google-Calendar-Importer'), perMinute: 6 },
  { kind: 'podcasts and calendars', name: 'Thunderbird in a cloud desktop', from: 'support.mozilla.org/kb', ip: '20.10.10.20', path: '/calendar/team.ics', headers: agent('Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Thunderbird/140.5.0'), perMinute: 6 },
  { kind: 'podcasts and calendars', name: 'Outlook calendar', from: 'support.microsoft.com/outlook', ip: '40.94.10.20', path: '/calendar/team.ics', headers: agent('Microsoft.Exchange/15.20 (Windows NT 10.0; Win64; x64)'), perMinute: 6 },
  { kind: 'applications', name: "A shop's iOS application behind Zscaler", from: 'AntennaPod#4813', ip: '165.225.10.22', path: '/api/me', headers: agent('Shop/1 CFNetwork/1568.200.51 Darwin/24.1.0'), perMinute: 100 },
  { kind: 'applications', name: "A shop's Android application behind WARP", from: 'square/okhttp', ip: '104.28.200.21', path: '/api/me', headers: { 'User-Agent': 'okhttp/4.12.0', 'Accept-Encoding': 'gzip' }, perMinute: 100 },
  { kind: 'applications', name: 'A Flutter application in a cloud desktop', from: 'dart.dev', ip: '20.10.10.21', path: '/api/me', headers: { 'User-Agent': 'Dart/3.4 (dart:io)', 'Accept-Encoding': 'gzip' }, perMinute: 100 },
  { kind: 'federation', name: 'Mastodon', from: 'mastodon/mastodon', ip: '116.202.10.20', path: '/users/jane', headers: agent('Mastodon/4.5.11 (http.rb/5.2.0; +https://mastodon.example/)', OBJECT), perMinute: 100, clients: 4 },
  { kind: 'federation', name: 'Pleroma', from: 'git.pleroma.social', ip: '116.202.11.20', path: '/users/jane', headers: agent('Pleroma 2.9.1; https://pleroma.example <admin@pleroma.example>', OBJECT), perMinute: 100 },
  { kind: 'federation', name: 'Misskey', from: 'misskey-dev/misskey', ip: '116.202.12.20', path: '/users/jane', headers: agent('Misskey/2025.9.0 (https://misskey.example)', OBJECT), perMinute: 100 },
  { kind: 'federation', name: 'Lemmy', from: 'LemmyNet/lemmy', ip: '116.202.13.20', path: '/c/garden', headers: agent('Lemmy/0.19.14; +https://lemmy.example', 'application/activity+json'), perMinute: 100 },
  { kind: 'federation', name: 'PeerTube', from: 'Chocobozzz/PeerTube', ip: '116.202.14.20', path: '/videos/1', headers: agent('PeerTube/7.3.0 (+https://peertube.example)', OBJECT), perMinute: 100 },
  { kind: 'federation', name: 'GoToSocial', from: 'superseriousbusiness/gotosocial', ip: '116.202.15.20', path: '/users/jane', headers: agent('gotosocial/0.19.1 (+https://gts.example)', OBJECT), perMinute: 100 },
  { kind: 'federation', name: 'A server by another name', from: 'www.w3.org/TR/activitypub', ip: '116.202.16.20', path: '/users/jane', headers: agent('smolfedi/1.2 (+https://smol.example)', 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"'), perMinute: 100 },
  { kind: 'federation', name: 'An inbox', from: 'mastodon/mastodon', method: 'POST', ip: '116.202.17.20', path: '/inbox', headers: { 'User-Agent': 'Mastodon/4.5.11 (http.rb/5.2.0; +https://mastodon.example/)', 'Content-Type': 'application/activity+json' }, perMinute: 100 },
  { kind: 'feeds', name: 'FreshRSS', from: 'FreshRSS/FreshRSS', ip: '5.9.14.20', path: '/blog/feed/', headers: agent('FreshRSS/1.27.1 (Linux; https://freshrss.org)', FEED), perMinute: 6 },
  { kind: 'feeds', name: 'Feedly', from: 'feedly.com/fetcher', ip: '8.29.198.26', path: '/rss.xml', headers: agent('Feedly/1.0 (+http://www.feedly.com/fetcher.html; 12 subscribers; like FeedFetcher-Google)', FEED), perMinute: 6 },
  { kind: 'feeds', name: 'Miniflux on a WordPress query', from: 'miniflux#4454', ip: '5.9.15.20', path: '/?feed=rss2', headers: agent('Mozilla/5.0 (compatible; Miniflux/2.2.14; +https://miniflux.app)', FEED), perMinute: 6 },
  { kind: 'feeds', name: 'A Go library on a WordPress query', from: 'anubis#1737', ip: '5.9.16.20', path: '/?feed=rss2', headers: agent('Go-http-client/1.1', FEED), perMinute: 6 },
  { kind: 'feeds', name: 'A reader on a Joomla query', from: 'anubis#1737', ip: '5.9.17.20', path: '/index.php?option=com_content&view=featured&format=feed&type=rss', headers: agent('Tiny Tiny RSS/24.11 (https://tt-rss.org/)', FEED), perMinute: 6 },
  { kind: 'mail images', name: 'Gmail', from: 'owasp-modsecurity-crs#188', ip: '66.249.84.10', path: '/news/head.png', headers: agent('Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)', 'image/*'), perMinute: 120, clients: 4 },
  { kind: 'mail images', name: 'Yahoo Mail', from: 'senders.yahooinc.com', ip: '98.137.10.20', path: '/news/head.png', headers: agent('YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html', 'image/*'), perMinute: 120 },
  { kind: 'mail images', name: 'Apple Mail behind the relay', from: 'support.apple.com/guide/mail', ip: '172.224.226.11', path: '/news/head.png', headers: agent('Mozilla/5.0', 'image/webp,image/png,image/*;q=0.8,*/*;q=0.5'), perMinute: 60 },
  { kind: 'mail images', name: 'Outlook', from: 'learn.microsoft.com/outlook', ip: '73.162.10.22', path: '/news/head.png', headers: agent('Mozilla/4.0 (compatible; ms-office; MSOffice 16)'), perMinute: 6 },
  { kind: 'previews and checkers', name: 'WhatsApp', from: 'faq.whatsapp.com', ip: '73.162.10.23', path: '/item/1', headers: agent('WhatsApp/2.23.20.0 A'), perMinute: 3 },
  { kind: 'previews and checkers', name: 'Slack', from: 'api.slack.com/robots', ip: '54.174.1.11', path: '/item/1', headers: agent('Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)'), perMinute: 20 },
  { kind: 'previews and checkers', name: 'Facebook', from: 'developers.facebook.com/docs/sharing', ip: '31.13.24.10', path: '/item/1', headers: agent('facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)'), perMinute: 20 },
  { kind: 'previews and checkers', name: 'Internet Archive', from: 'archive.org/details/archive.org_bot', ip: '207.241.237.10', path: '/', headers: agent('Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)'), perMinute: 30 },
  { kind: 'previews and checkers', name: 'W3C validator', from: 'validator.w3.org', ip: '128.30.52.20', path: '/', headers: agent('Validator.nu/LV http://validator.w3.org/services'), perMinute: 2 },
  { kind: 'previews and checkers', name: 'WAVE', from: 'wave.webaim.org', ip: '54.187.13.20', path: '/', headers: agent('WAVE accessibility checker/1.0 (+https://wave.webaim.org)'), perMinute: 2 },
  { kind: 'updates', name: 'APT', from: 'wiki.debian.org/Apt', ip: '5.9.18.20', path: '/debian/dists/stable/InRelease', headers: agent('Debian APT-HTTP/1.3 (3.0.3)'), perMinute: 100 },
  { kind: 'updates', name: 'Git', from: 'git-scm.com', ip: '5.9.19.20', path: '/team/app.git/info/refs?service=git-upload-pack', headers: { ...agent('git/2.51.0'), 'Git-Protocol': 'version=2' }, perMinute: 30 },
  { kind: 'updates', name: 'Docker', from: 'docs.docker.com', ip: '5.9.20.20', path: '/v2/team/app/blobs/sha256:aa', headers: agent('docker/28.5.1 go/go1.24.8 git-commit/f8215cc kernel/6.8.0 os/linux arch/amd64 UpstreamClient(Docker-Client/28.5.1 \\(linux\\))'), perMinute: 60 },
  { kind: 'people', name: 'Safari behind iCloud Private Relay, without its feed', from: 'ip-index#32', ip: '172.224.226.12', path: '/', headers: SAFARI, perMinute: 20, httpVersion: '2.0' },
  { kind: 'people', name: 'Firefox on Starlink', from: 'starlink.com', ip: '98.97.10.20', path: '/', headers: FIREFOX, perMinute: 20 },
  { kind: 'people', name: 'Firefox with a screen reader', from: 'nvaccess.org', ip: '73.162.10.24', path: '/', headers: FIREFOX, perMinute: 30 },
  { kind: 'people', name: 'A return from a login elsewhere (OAuth)', from: 'RFC 6749', ip: '73.162.10.25', path: '/oauth/callback?code=1&state=2', headers: { ...FIREFOX, Referer: 'https://accounts.example/', 'Sec-Fetch-Site': 'cross-site' }, perMinute: 6 },
  { kind: 'people', name: 'The same by a form (Sign in with Apple)', from: 'developer.apple.com/documentation/signinwithapple', method: 'POST', ip: '73.162.10.26', path: '/oauth/callback', headers: { ...SAFARI, 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'https://appleid.apple.com', 'Sec-Fetch-Site': 'cross-site' }, perMinute: 6 },
]
