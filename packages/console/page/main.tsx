import './style.css'
import { render } from 'preact'
import { loadSession } from './api.ts'
import { App } from './app.tsx'
import { followPlace } from './route.ts'
import { applyTheme } from './theme.ts'

applyTheme()
followPlace()
void loadSession().catch(() => setTimeout(() => void loadSession(), 2_000))
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
