/** Text for a refused visitor. */
export interface RefusalText {
  readonly title: string
  readonly text: string
}

/** Why somebody sees a page of ours, as far as a visitor needs to know. */
export type RefusalKind = 'blocked' | 'missing' | 'busy' | 'unreachable' | 'invalid'

/** The texts of one language. */
export type RefusalTexts = Readonly<Record<RefusalKind, RefusalText>> & {
  /** Before the request's id. */
  readonly reference: string
  /** Before the site's contact. */
  readonly contact: string
}

/** The kind of a status. */
export function kindOf(status: number): RefusalKind {
  if (status === 403 || status === 401) return 'blocked'
  if (status === 404) return 'missing'
  if (status === 429 || status === 503) return 'busy'
  return status >= 500 ? 'unreachable' : 'invalid'
}

/** By language (BCP 47); the first is what a browser gets that reads none of them. */
export const REFUSAL_TEXTS: Readonly<Record<string, RefusalTexts>> = {
  en: {
    blocked: { title: 'Access denied', text: 'This site does not accept this request.' },
    missing: { title: 'Page not found', text: 'This page does not exist.' },
    busy: { title: 'Try again in a moment', text: 'The server is busy.' },
    unreachable: { title: 'Not available', text: 'This site cannot answer right now. Try again in a few minutes.' },
    invalid: { title: 'Bad request', text: 'Your browser sent a request that is not valid.' },
    reference: 'Reference',
    contact: 'If you think that this is a mistake, write to the site and name the reference:',
  },
  de: {
    blocked: { title: 'Zugriff verweigert', text: 'Diese Website nimmt diese Anfrage nicht an.' },
    missing: { title: 'Seite nicht gefunden', text: 'Diese Seite gibt es nicht.' },
    busy: { title: 'Bitte gleich noch einmal', text: 'Der Server ist ausgelastet.' },
    unreachable: {
      title: 'Nicht verfügbar',
      text: 'Diese Website kann gerade nicht antworten. Versuchen Sie es in einigen Minuten noch einmal.',
    },
    invalid: { title: 'Ungültige Anfrage', text: 'Ihr Browser hat eine ungültige Anfrage gesendet.' },
    reference: 'Kennung',
    contact: 'Wenn Sie das für einen Irrtum halten, schreiben Sie der Website und nennen Sie die Kennung:',
  },
  fr: {
    blocked: { title: 'Accès refusé', text: 'Ce site n’accepte pas cette requête.' },
    missing: { title: 'Page introuvable', text: 'Cette page n’existe pas.' },
    busy: { title: 'Réessayez dans un instant', text: 'Le serveur est surchargé.' },
    unreachable: {
      title: 'Indisponible',
      text: 'Ce site ne peut pas répondre pour l’instant. Réessayez dans quelques minutes.',
    },
    invalid: { title: 'Requête non valide', text: 'Votre navigateur a envoyé une requête non valide.' },
    reference: 'Référence',
    contact: 'Si vous pensez qu’il s’agit d’une erreur, écrivez au site en indiquant la référence :',
  },
  es: {
    blocked: { title: 'Acceso denegado', text: 'Este sitio no acepta esta solicitud.' },
    missing: { title: 'Página no encontrada', text: 'Esta página no existe.' },
    busy: { title: 'Inténtelo en un momento', text: 'El servidor está ocupado.' },
    unreachable: {
      title: 'No disponible',
      text: 'Este sitio no puede responder ahora. Inténtelo de nuevo en unos minutos.',
    },
    invalid: { title: 'Solicitud no válida', text: 'Su navegador envió una solicitud no válida.' },
    reference: 'Referencia',
    contact: 'Si cree que se trata de un error, escriba al sitio e indique la referencia:',
  },
  it: {
    blocked: { title: 'Accesso negato', text: 'Questo sito non accetta questa richiesta.' },
    missing: { title: 'Pagina non trovata', text: 'Questa pagina non esiste.' },
    busy: {
      title: 'Riprova tra un momento',
      text: 'Il server è occupato.',
    },
    unreachable: {
      title: 'Non disponibile',
      text: 'Il sito non può rispondere in questo momento. Riprova tra qualche minuto.',
    },
    invalid: {
      title: 'Richiesta non valida',
      text: 'Il tuo browser ha inviato una richiesta non valida.',
    },
    reference: 'Riferimento',
    contact: 'Se pensi che sia un errore, scrivi al sito indicando il riferimento:',
  },
  nl: {
    blocked: { title: 'Toegang geweigerd', text: 'Deze site neemt dit verzoek niet aan.' },
    missing: { title: 'Pagina niet gevonden', text: 'Deze pagina bestaat niet.' },
    busy: { title: 'Probeer het zo opnieuw', text: 'De server is bezet.' },
    unreachable: {
      title: 'Niet beschikbaar',
      text: 'Deze site kan nu niet antwoorden. Probeer het over enkele minuten opnieuw.',
    },
    invalid: { title: 'Ongeldig verzoek', text: 'Uw browser stuurde een ongeldig verzoek.' },
    reference: 'Kenmerk',
    contact: 'Denkt u dat dit een vergissing is, schrijf dan de site en noem het kenmerk:',
  },
  pt: {
    blocked: { title: 'Acesso negado', text: 'Este site não aceita este pedido.' },
    missing: { title: 'Página não encontrada', text: 'Esta página não existe.' },
    busy: { title: 'Tente novamente daqui a pouco', text: 'O servidor está ocupado.' },
    unreachable: {
      title: 'Indisponível',
      text: 'Este site não pode responder agora. Tente novamente dentro de alguns minutos.',
    },
    invalid: { title: 'Pedido inválido', text: 'O seu navegador enviou um pedido inválido.' },
    reference: 'Referência',
    contact: 'Se acha que se trata de um erro, escreva ao site e indique a referência:',
  },
}
