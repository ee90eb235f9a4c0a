import { conformTo } from './check-host.ts'
import { openRealScene } from './real-scene.ts'

/* The table again, on the embedded data. */
conformTo(openRealScene)
