/** Resolvers and root servers that all clients reach, each at many places at once; none of them is a client's way out. */
export const PUBLIC_SERVICES: readonly string[] = [
  '1.1.1.1',
  '1.0.0.1',
  '8.8.8.8',
  '8.8.4.4',
  '9.9.9.9',
  '208.67.222.222',
  '198.41.0.4',
  '192.5.5.241',
  '193.0.14.129',
  '199.7.83.42',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '2620:fe::fe',
  '2001:503:ba3e::2:30',
]

/** Domains under which most people have their mail for years. */
export const PUBLIC_MAIL: readonly string[] = [
  'gmail.com',
  'outlook.com',
  'hotmail.com',
  'yahoo.com',
  'icloud.com',
  'aol.com',
  'qq.com',
  '163.com',
  'mail.ru',
  'gmx.net',
  'web.de',
  'proton.me',
]
