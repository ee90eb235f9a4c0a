/** The texts of the page in one language. */
export interface ChallengeTexts {
  readonly title: string
  readonly text: string
  /** Name of the progress bar, for who hears the page. */
  readonly progress: string
  readonly done: string
  readonly cookies: string
  readonly failed: string
  /** For who runs no script where only that earns a pass. */
  readonly script: string
  /** A form was sent. */
  readonly form: string
  /** Text of the link to the page that was wanted. */
  readonly again: string
}

/** By language (BCP 47); the first is what a browser gets that reads none of them. */
export const CHALLENGE_TEXTS: Readonly<Record<string, ChallengeTexts>> = {
  en: {
    title: 'One moment',
    text: 'Before it answers, this site makes sure that no scraper is asking. It takes a few seconds, and only now and then.',
    progress: 'Progress',
    done: 'Done. The page opens.',
    cookies:
      'Your browser does not keep the cookie that this needs. Allow cookies for this site, then open the page again.',
    failed: 'This did not work. Wait a moment, then open the page again.',
    script: 'This needs JavaScript. Allow it for this site, then open the page again.',
    form: 'Your form was not taken. Go back, open the page again, and send it once more.',
    again: 'Open the page again',
  },
  de: {
    title: 'Einen Moment',
    text: 'Bevor sie antwortet, stellt diese Website sicher, dass kein Scraper fragt. Das dauert einige Sekunden und kommt nur ab und zu vor.',
    progress: 'Fortschritt',
    done: 'Fertig. Die Seite wird geöffnet.',
    cookies:
      'Ihr Browser behält das Cookie nicht, das dafür nötig ist. Erlauben Sie dieser Website Cookies und öffnen Sie die Seite noch einmal.',
    failed: 'Das hat nicht geklappt. Warten Sie einen Moment und öffnen Sie die Seite noch einmal.',
    script: 'Dafür ist JavaScript nötig. Erlauben Sie es dieser Website und öffnen Sie die Seite noch einmal.',
    form: 'Ihr Formular wurde nicht angenommen. Gehen Sie zurück, öffnen Sie die Seite noch einmal und senden Sie es erneut.',
    again: 'Seite noch einmal öffnen',
  },
}
