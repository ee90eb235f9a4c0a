import type { Feature } from '#service'
import { examineNotify, notifyFaults, notifyWarnings } from './examine.ts'
import { keys } from './keys.ts'
import { openNotifications } from './notifications.ts'

export { type Tested, testNotifications } from './notifications.ts'

/** Events of the service, sent to chats and webhooks. */
export const feature: Feature<typeof keys> = {
  keys,
  command: 'notify',
  faults: notifyFaults,
  warnings: notifyWarnings,
  examine: examineNotify,
  openSink: openNotifications,
}
