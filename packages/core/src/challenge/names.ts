/** The cookie of a pass; over HTTPS only the name that no other site of the domain can set (RFC 6265bis section 4.1.3.2) counts. */
export const PASS_COOKIES = ['__Host-sallyport', 'sallyport'] as const

/** A client has this cookie while it waits for a challenge. */
export const CHALLENGE_COOKIES = ['__Host-sallyport-challenge', 'sallyport-challenge'] as const

/** A request brings a solution in this field. */
export const SOLUTION_FIELD = 'sallyport-solution'

/** A form holds its token in this field. */
export const TOKEN_FIELD = 'sallyport-token'

/** End-to-end tests send this token, which is accepted where the configuration has `testing` or `demo`. */
export const TEST_TOKEN = 'sallyport-test'

/** URLs and attributes contain the names of forms' actions. */
const ACTION = /^[\w.:/-]{1,64}$/

/** Reports whether a text can name the action of a form. */
export function isFormAction(text: unknown): text is string {
  return typeof text === 'string' && ACTION.test(text)
}
