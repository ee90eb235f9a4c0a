import { z } from 'zod'
import { CountryCode } from './words.ts'

/** Every field of a geolocation but the address; a field is left out when it is unknown. */
export const geoFields = {
  country: z.string().meta({ description: 'Name of the country, in English.' }).optional(),
  countryCode: CountryCode.optional(),
  city: z.string().optional(),
  region: z.string().optional(),
  postalCode: z.string().optional(),
  latitude: z.number().min(-90).max(90).meta({ format: 'double' }).optional(),
  longitude: z.number().min(-180).max(180).meta({ format: 'double' }).optional(),
  timezone: z
    .string()
    .meta({ description: 'IANA zone name.', examples: ['Europe/Berlin'] })
    .optional(),
  accuracyRadius: z.int().meta({ description: 'Kilometres.' }).optional(),
}

/** Specification: GeolocationResponse. */
export const GeolocationResponse = z.object({ ip: z.string(), ...geoFields }).meta({ id: 'GeolocationResponse' })
export type GeolocationResponse = z.output<typeof GeolocationResponse>
