/** Markup that is made here; any other text is escaped where it is put into it. */
export interface Html {
  readonly markup: string
}

/** Markup with every value escaped that is not markup itself. */
export function html(strings: TemplateStringsArray, ...values: readonly (Html | string)[]): Html {
  return {
    markup: strings.map((part, index) => part + (index < values.length ? escaped(values[index] ?? '') : '')).join(''),
  }
}

export function join(parts: readonly Html[]): Html {
  return { markup: parts.map(({ markup }) => markup).join('') }
}

export function text({ markup }: Html): string {
  return markup
}

function escaped(value: Html | string): string {
  return typeof value === 'string' ? value.replace(/[&<>"']/g, (byte) => `&#${byte.charCodeAt(0)};`) : value.markup
}
