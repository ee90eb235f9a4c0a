'use server'

export async function order(_before, form) {
  const file = form.get('file')
  return `Ordered: ${form.get('word')}, ${file.size} bytes`
}
