import { WHOIS_FORMATS } from '@sallyport/data/whois-formats'

/** Whether a registrant's name is that of a privacy service, or a registry's word for a name that is not shown. */
export function isPrivacyName(name: string): boolean {
  const text = name.slice(0, 300).toLowerCase()
  return WHOIS_FORMATS.privacy.contains.some((part) => text.includes(part))
}
