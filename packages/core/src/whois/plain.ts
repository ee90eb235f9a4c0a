/** Controls other than tab and line ends, and the marks that turn the direction of text around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

/** Text of strangers that may be shown in a terminal or a page as it stands: what could steer either becomes a space. */
export function plainText(text: string): string {
  return text.replace(UNPRINTABLE, ' ')
}
