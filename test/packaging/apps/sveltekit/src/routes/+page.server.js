import { fail } from '@sveltejs/kit'

export const actions = {
  async default({ request }) {
    const form = await request.formData()
    if (form.get('word') === '') return fail(422, { text: 'A word is missing' })
    return { text: `Ordered: ${form.get('word')}, ${form.get('file').size} bytes` }
  },
}
