export const load = () => ({ text: 'rendered' })
