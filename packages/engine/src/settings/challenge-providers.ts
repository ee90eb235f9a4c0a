/** A provider that verifies tokens as reCAPTCHA does. A place is a server, empty where `url` must name it, and a path there. */
interface ProviderKind {
  /** The page shows it. */
  readonly name: string
  readonly script: readonly [server: string, path: string]
  readonly verify: readonly [server: string, path: string]
  /** The Content-Security-Policy of the page allows these origins beside that of the script. */
  readonly origins: readonly string[]
  /** The script fills this element; `{siteKey}` in an attribute or a path is the key of the site, `{url}` the server. */
  readonly element: string
  readonly attributes: Readonly<Record<string, string>>
  /** The script writes the token into this field. */
  readonly field: string
}

export const PROVIDER_KINDS = ['turnstile', 'hcaptcha', 'recaptcha', 'cap'] as const

export const CHALLENGE_PROVIDERS: Readonly<Record<(typeof PROVIDER_KINDS)[number], ProviderKind>> = {
  turnstile: {
    name: 'Turnstile',
    script: ['https://challenges.cloudflare.com', '/turnstile/v0/api.js'],
    verify: ['https://challenges.cloudflare.com', '/turnstile/v0/siteverify'],
    origins: [],
    element: 'div',
    attributes: { class: 'cf-turnstile', 'data-sitekey': '{siteKey}' },
    field: 'cf-turnstile-response',
  },
  hcaptcha: {
    name: 'hCaptcha',
    script: ['https://js.hcaptcha.com', '/1/api.js'],
    verify: ['https://api.hcaptcha.com', '/siteverify'],
    origins: ['https://hcaptcha.com', 'https://*.hcaptcha.com'],
    element: 'div',
    attributes: { class: 'h-captcha', 'data-sitekey': '{siteKey}' },
    field: 'h-captcha-response',
  },
  recaptcha: {
    name: 'reCAPTCHA',
    script: ['https://www.google.com', '/recaptcha/api.js'],
    verify: ['https://www.google.com', '/recaptcha/api/siteverify'],
    // The second serves www.recaptcha.net.
    origins: ['https://www.gstatic.com', 'https://www.gstatic.cn'],
    element: 'div',
    attributes: { class: 'g-recaptcha', 'data-sitekey': '{siteKey}' },
    field: 'g-recaptcha-response',
  },
  cap: {
    name: 'Cap',
    script: ['', '/assets/widget.js'],
    verify: ['', '/{siteKey}/siteverify'],
    origins: [],
    element: 'cap-widget',
    attributes: { 'data-cap-api-endpoint': '{url}/{siteKey}/' },
    field: 'cap-token',
  },
}
