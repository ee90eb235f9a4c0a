import { conformTo } from './check-host.ts'
import { openRealScene } from './real-scene.ts'

/* Every row of the table must hold on the embedded data too. */
conformTo(openRealScene)
