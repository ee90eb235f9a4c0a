import { conformTo } from './check-host.ts'
import { madeScene } from './scene.ts'

conformTo(async () => madeScene())
