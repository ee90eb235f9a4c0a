import { signal } from '@preact/signals'

const KEY = 'sallyport-theme'
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const theme = signal<Theme>(stored())

/** Whether what is shown is dark now. */
export function isDark(): boolean {
  return theme.value === 'dark' || (theme.value === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  try {
    localStorage.setItem(KEY, chosen)
  } catch {
    // A browser that keeps nothing forgets the choice.
  }
  applyTheme()
}

export function applyTheme(): void {
  const { dataset } = document.documentElement
  if (theme.value === 'system') delete dataset['theme']
  else dataset['theme'] = theme.value
}

function stored(): Theme {
  try {
    const found = localStorage.getItem(KEY)
    return THEMES.find((one) => one === found) ?? 'system'
  } catch {
    return 'system'
  }
}
