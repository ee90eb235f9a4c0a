import { z } from 'zod'
import { EVENT_KINDS, type FeatureConfig } from '#service'
import { key, LIVE, SECRET } from '#settings'
import { FORMS, targetFault } from './target.ts'

const Place = z
  .strictObject({
    url: key(z.string(), 'Webhook URL', 'https://hooks.slack.com/services/T000/B000/XXXX', SECRET),
    on: key(
      z
        .array(z.enum(EVENT_KINDS))
        .min(1)
        .default([...EVENT_KINDS]),
      'Events to send',
      ['certificate', 'origin', 'reload_refused'],
    ),
    as: key(z.enum(FORMS).optional(), 'Message format; absent: chosen by the host of url, else json', 'ntfy'),
    secret: key(
      z.string().min(1).optional(),
      'Signing key for json (at least 32 characters), or ntfy access token; absent: none',
      'file:/run/secrets/notify',
      SECRET,
    ),
  })
  .superRefine((place, context) => {
    const fault = targetFault(place)
    if (fault !== undefined) context.addIssue({ code: 'custom', path: [fault.member], message: fault.message })
  })

export const keys = {
  notify: z
    .array(Place)
    .max(20)
    .default([])
    .meta({ description: 'Chats and webhooks that receive notifications', ...LIVE }),
}

export type NotifySettings = FeatureConfig<typeof keys>
