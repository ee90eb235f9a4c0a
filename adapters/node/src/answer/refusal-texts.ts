/** Text for a refused visitor. */
export interface RefusalText {
  readonly title: string
  readonly text: string
}

/** Why somebody sees a page of ours, as far as a visitor needs to know. */
export type RefusalKind = 'blocked' | 'missing' | 'limited' | 'busy' | 'unreachable' | 'large' | 'invalid'

/** The texts of one language. */
export type RefusalTexts = Readonly<Record<RefusalKind, RefusalText>> & {
  /** Before the request's id. */
  readonly reference: string
  /** Before the site's contact. */
  readonly contact: string
  /** The advice where the site names no contact. */
  readonly mistake: string
}

/** The kind of a status. */
export function kindOf(status: number): RefusalKind {
  if (status === 403 || status === 401) return 'blocked'
  if (status === 404) return 'missing'
  if (status === 413 || status === 414 || status === 431) return 'large'
  if (status === 429) return 'limited'
  if (status === 503) return 'busy'
  return status >= 500 ? 'unreachable' : 'invalid'
}

/** By language (BCP 47); the first is what a browser gets that reads none of them. */
export const REFUSAL_TEXTS: Readonly<Record<string, RefusalTexts>> = {
  en: {
    blocked: { title: 'Access denied', text: 'This site has refused the request.' },
    missing: { title: 'Page not found', text: 'This page does not exist. Check the address.' },
    limited: {
      title: 'Too many requests',
      text: 'Too many requests came from your connection. Wait a moment, then try again.',
    },
    busy: { title: 'Try again in a moment', text: 'The server is busy.' },
    unreachable: { title: 'Not available', text: 'This site cannot answer right now. Try again in a few minutes.' },
    large: {
      title: 'Too much to send',
      text: 'What you sent is larger than this site accepts. Go back, and send a smaller file or less at a time.',
    },
    invalid: {
      title: 'Bad request',
      text: 'Your browser sent a request that is not valid. Check the address, or go back and try again.',
    },
    reference: 'Reference',
    contact: 'If you think that this is a mistake, write to the site and name the reference:',
    mistake: 'If you think that this is a mistake, tell the owner of the site the reference below.',
  },
  de: {
    blocked: { title: 'Zugriff verweigert', text: 'Diese Website hat die Anfrage abgelehnt.' },
    missing: { title: 'Seite nicht gefunden', text: 'Diese Seite gibt es nicht. Prüfen Sie die Adresse.' },
    limited: {
      title: 'Zu viele Anfragen',
      text: 'Von Ihrem Anschluss kamen zu viele Anfragen. Warten Sie einen Moment und versuchen Sie es dann noch einmal.',
    },
    busy: { title: 'Bitte gleich noch einmal', text: 'Der Server ist ausgelastet.' },
    unreachable: {
      title: 'Nicht verfügbar',
      text: 'Diese Website kann gerade nicht antworten. Versuchen Sie es in einigen Minuten noch einmal.',
    },
    large: {
      title: 'Zu groß',
      text: 'Was Sie gesendet haben, ist größer, als diese Website annimmt. Gehen Sie zurück und senden Sie eine kleinere Datei oder weniger auf einmal.',
    },
    invalid: {
      title: 'Ungültige Anfrage',
      text: 'Ihr Browser hat eine ungültige Anfrage gesendet. Prüfen Sie die Adresse, oder gehen Sie zurück und versuchen Sie es noch einmal.',
    },
    reference: 'Kennung',
    contact: 'Wenn Sie das für einen Irrtum halten, schreiben Sie der Website und nennen Sie die Kennung:',
    mistake: 'Wenn Sie das für einen Irrtum halten, nennen Sie dem Betreiber der Website die Kennung unten.',
  },
  fr: {
    blocked: { title: 'Accès refusé', text: 'Ce site a refusé la requête.' },
    missing: { title: 'Page introuvable', text: 'Cette page n’existe pas. Vérifiez l’adresse.' },
    limited: {
      title: 'Trop de requêtes',
      text: 'Trop de requêtes sont venues de votre connexion. Attendez un instant, puis réessayez.',
    },
    busy: { title: 'Réessayez dans un instant', text: 'Le serveur est surchargé.' },
    unreachable: {
      title: 'Indisponible',
      text: 'Ce site ne peut pas répondre pour l’instant. Réessayez dans quelques minutes.',
    },
    large: {
      title: 'Envoi trop volumineux',
      text: 'Votre envoi dépasse la taille que ce site accepte. Revenez en arrière et envoyez un fichier plus petit, ou moins à la fois.',
    },
    invalid: {
      title: 'Requête non valide',
      text: 'Votre navigateur a envoyé une requête non valide. Vérifiez l’adresse, ou revenez en arrière et réessayez.',
    },
    reference: 'Référence',
    contact: 'Si vous pensez qu’il s’agit d’une erreur, écrivez au site en indiquant la référence :',
    mistake: 'Si vous pensez qu’il s’agit d’une erreur, communiquez au responsable du site la référence ci-dessous.',
  },
  es: {
    blocked: { title: 'Acceso denegado', text: 'Este sitio ha rechazado la solicitud.' },
    missing: { title: 'Página no encontrada', text: 'Esta página no existe. Compruebe la dirección.' },
    limited: {
      title: 'Demasiadas solicitudes',
      text: 'Han llegado demasiadas solicitudes desde su conexión. Espere un momento e inténtelo de nuevo.',
    },
    busy: { title: 'Inténtelo en un momento', text: 'El servidor está ocupado.' },
    unreachable: {
      title: 'No disponible',
      text: 'Este sitio no puede responder ahora. Inténtelo de nuevo en unos minutos.',
    },
    large: {
      title: 'Envío demasiado grande',
      text: 'Lo que ha enviado supera el tamaño que acepta este sitio. Vuelva atrás y envíe un archivo más pequeño o menos de una vez.',
    },
    invalid: {
      title: 'Solicitud no válida',
      text: 'Su navegador envió una solicitud no válida. Compruebe la dirección, o vuelva atrás e inténtelo de nuevo.',
    },
    reference: 'Referencia',
    contact: 'Si cree que se trata de un error, escriba al sitio e indique la referencia:',
    mistake: 'Si cree que se trata de un error, comunique al responsable del sitio la referencia de abajo.',
  },
  it: {
    blocked: { title: 'Accesso negato', text: 'Questo sito ha rifiutato la richiesta.' },
    missing: { title: 'Pagina non trovata', text: 'Questa pagina non esiste. Controlla l’indirizzo.' },
    limited: {
      title: 'Troppe richieste',
      text: 'Dalla tua connessione sono arrivate troppe richieste. Attendi un momento, poi riprova.',
    },
    busy: { title: 'Riprova tra un momento', text: 'Il server è occupato.' },
    unreachable: {
      title: 'Non disponibile',
      text: 'Il sito non può rispondere in questo momento. Riprova tra qualche minuto.',
    },
    large: {
      title: 'Invio troppo grande',
      text: 'Quello che hai inviato supera la dimensione accettata da questo sito. Torna indietro e invia un file più piccolo, o meno per volta.',
    },
    invalid: {
      title: 'Richiesta non valida',
      text: 'Il tuo browser ha inviato una richiesta non valida. Controlla l’indirizzo, oppure torna indietro e riprova.',
    },
    reference: 'Riferimento',
    contact: 'Se pensi che sia un errore, scrivi al sito indicando il riferimento:',
    mistake: 'Se pensi che sia un errore, comunica al gestore del sito il riferimento qui sotto.',
  },
  nl: {
    blocked: { title: 'Toegang geweigerd', text: 'Deze site heeft het verzoek geweigerd.' },
    missing: { title: 'Pagina niet gevonden', text: 'Deze pagina bestaat niet. Controleer het adres.' },
    limited: {
      title: 'Te veel verzoeken',
      text: 'Er kwamen te veel verzoeken van uw verbinding. Wacht even en probeer het dan opnieuw.',
    },
    busy: { title: 'Probeer het zo opnieuw', text: 'De server is bezet.' },
    unreachable: {
      title: 'Niet beschikbaar',
      text: 'Deze site kan nu niet antwoorden. Probeer het over enkele minuten opnieuw.',
    },
    large: {
      title: 'Te groot',
      text: 'Wat u hebt verzonden, is groter dan deze site accepteert. Ga terug en verstuur een kleiner bestand, of minder tegelijk.',
    },
    invalid: {
      title: 'Ongeldig verzoek',
      text: 'Uw browser stuurde een ongeldig verzoek. Controleer het adres, of ga terug en probeer het opnieuw.',
    },
    reference: 'Kenmerk',
    contact: 'Denkt u dat dit een vergissing is, schrijf dan de site en noem het kenmerk:',
    mistake: 'Denkt u dat dit een vergissing is, geef de beheerder van de site dan het kenmerk hieronder.',
  },
  pt: {
    blocked: { title: 'Acesso negado', text: 'Este site recusou o pedido.' },
    missing: { title: 'Página não encontrada', text: 'Esta página não existe. Verifique o endereço.' },
    limited: {
      title: 'Demasiados pedidos',
      text: 'Chegaram demasiados pedidos da sua ligação. Aguarde um momento e tente novamente.',
    },
    busy: { title: 'Tente novamente daqui a pouco', text: 'O servidor está ocupado.' },
    unreachable: {
      title: 'Indisponível',
      text: 'Este site não pode responder agora. Tente novamente dentro de alguns minutos.',
    },
    large: {
      title: 'Envio demasiado grande',
      text: 'O que enviou excede o tamanho que este site aceita. Volte atrás e envie um ficheiro mais pequeno, ou menos de cada vez.',
    },
    invalid: {
      title: 'Pedido inválido',
      text: 'O seu navegador enviou um pedido inválido. Verifique o endereço, ou volte atrás e tente novamente.',
    },
    reference: 'Referência',
    contact: 'Se acha que se trata de um erro, escreva ao site e indique a referência:',
    mistake: 'Se acha que se trata de um erro, indique ao responsável pelo site a referência abaixo.',
  },
  pl: {
    blocked: { title: 'Odmowa dostępu', text: 'Ta witryna odrzuciła żądanie.' },
    missing: { title: 'Nie znaleziono strony', text: 'Ta strona nie istnieje. Sprawdź adres.' },
    limited: {
      title: 'Zbyt wiele żądań',
      text: 'Z Twojego połączenia przyszło zbyt wiele żądań. Odczekaj chwilę i spróbuj ponownie.',
    },
    busy: { title: 'Spróbuj ponownie za chwilę', text: 'Serwer jest zajęty.' },
    unreachable: {
      title: 'Strona niedostępna',
      text: 'Ta witryna nie może teraz odpowiedzieć. Spróbuj ponownie za kilka minut.',
    },
    large: {
      title: 'Zbyt duże dane',
      text: 'Wysłane dane są większe, niż przyjmuje ta strona. Wróć i wyślij mniejszy plik albo mniej naraz.',
    },
    invalid: {
      title: 'Nieprawidłowe żądanie',
      text: 'Przeglądarka wysłała nieprawidłowe żądanie. Sprawdź adres albo wróć i spróbuj ponownie.',
    },
    reference: 'Identyfikator',
    contact: 'Jeśli uważasz, że to pomyłka, napisz do witryny i podaj identyfikator:',
    mistake: 'Jeśli uważasz, że to pomyłka, podaj właścicielowi witryny poniższy identyfikator.',
  },
  tr: {
    blocked: { title: 'Erişim reddedildi', text: 'Bu site isteği reddetti.' },
    missing: { title: 'Sayfa bulunamadı', text: 'Bu sayfa yok. Adresi kontrol edin.' },
    limited: {
      title: 'Çok fazla istek',
      text: 'Bağlantınızdan çok fazla istek geldi. Biraz bekleyip yeniden deneyin.',
    },
    busy: { title: 'Birazdan yeniden deneyin', text: 'Sunucu meşgul.' },
    unreachable: {
      title: 'Site yanıt vermiyor',
      text: 'Bu site şu anda yanıt veremiyor. Birkaç dakika sonra yeniden deneyin.',
    },
    large: {
      title: 'Gönderi çok büyük',
      text: 'Gönderdiğiniz veri bu sitenin kabul ettiğinden büyük. Geri dönüp daha küçük bir dosya ya da daha az veri gönderin.',
    },
    invalid: {
      title: 'Geçersiz istek',
      text: 'Tarayıcınız geçersiz bir istek gönderdi. Adresi kontrol edin ya da geri dönüp yeniden deneyin.',
    },
    reference: 'Başvuru kodu',
    contact: 'Bunun bir hata olduğunu düşünüyorsanız siteye yazın ve başvuru kodunu belirtin:',
    mistake: 'Bunun bir hata olduğunu düşünüyorsanız aşağıdaki başvuru kodunu site sahibine bildirin.',
  },
  ru: {
    blocked: { title: 'Доступ запрещён', text: 'Этот сайт отклонил запрос.' },
    missing: { title: 'Страница не найдена', text: 'Такой страницы нет. Проверьте адрес.' },
    limited: {
      title: 'Слишком много запросов',
      text: 'С вашего подключения пришло слишком много запросов. Подождите немного и повторите попытку.',
    },
    busy: { title: 'Повторите попытку чуть позже', text: 'Сервер перегружен.' },
    unreachable: {
      title: 'Сайт недоступен',
      text: 'Сайт сейчас не может ответить. Повторите попытку через несколько минут.',
    },
    large: {
      title: 'Слишком большой объём данных',
      text: 'Отправленные данные больше, чем принимает этот сайт. Вернитесь назад и отправьте файл меньшего размера или меньше данных за один раз.',
    },
    invalid: {
      title: 'Неверный запрос',
      text: 'Браузер отправил неверный запрос. Проверьте адрес или вернитесь назад и повторите попытку.',
    },
    reference: 'Идентификатор',
    contact: 'Если вы считаете, что это ошибка, напишите владельцам сайта и укажите идентификатор:',
    mistake: 'Если вы считаете, что это ошибка, сообщите владельцам сайта идентификатор, указанный ниже.',
  },
  uk: {
    blocked: { title: 'Доступ заборонено', text: 'Цей сайт відхилив запит.' },
    missing: { title: 'Сторінку не знайдено', text: 'Такої сторінки немає. Перевірте адресу.' },
    limited: {
      title: 'Забагато запитів',
      text: 'З вашого підключення надійшло забагато запитів. Зачекайте трохи й спробуйте ще раз.',
    },
    busy: { title: 'Спробуйте ще раз за мить', text: 'Сервер перевантажений.' },
    unreachable: {
      title: 'Сайт недоступний',
      text: 'Сайт зараз не може відповісти. Спробуйте ще раз за кілька хвилин.',
    },
    large: {
      title: 'Завеликий обсяг даних',
      text: 'Надіслані дані більші, ніж приймає цей сайт. Поверніться назад і надішліть менший файл або менше даних за один раз.',
    },
    invalid: {
      title: 'Неправильний запит',
      text: 'Браузер надіслав неправильний запит. Перевірте адресу або поверніться назад і спробуйте ще раз.',
    },
    reference: 'Ідентифікатор',
    contact: 'Якщо ви вважаєте, що це помилка, напишіть власникам сайту й укажіть ідентифікатор:',
    mistake: 'Якщо ви вважаєте, що це помилка, повідомте власникам сайту ідентифікатор, наведений нижче.',
  },
  ar: {
    blocked: { title: 'تم رفض الوصول', text: 'رفض هذا الموقع الطلب.' },
    missing: { title: 'الصفحة غير موجودة', text: 'هذه الصفحة غير موجودة. تحقّق من العنوان.' },
    limited: { title: 'طلبات كثيرة جدًا', text: 'وصلت طلبات كثيرة جدًا من اتصالك. انتظر قليلًا ثم حاول مرة أخرى.' },
    busy: { title: 'حاول مرة أخرى بعد لحظات', text: 'الخادم مشغول.' },
    unreachable: { title: 'الموقع غير متاح', text: 'لا يمكن لهذا الموقع الرد الآن. حاول مرة أخرى بعد بضع دقائق.' },
    large: {
      title: 'البيانات المرسلة كبيرة جدًا',
      text: 'ما أرسلته أكبر مما يقبله هذا الموقع. ارجع وأرسل ملفًا أصغر، أو بيانات أقل في كل مرة.',
    },
    invalid: { title: 'طلب غير صالح', text: 'أرسل متصفحك طلبًا غير صالح. تحقّق من العنوان، أو ارجع وحاول مرة أخرى.' },
    reference: 'الرقم المرجعي',
    contact: 'إذا كنت تعتقد أن هذا خطأ، فراسل الموقع واذكر الرقم المرجعي:',
    mistake: 'إذا كنت تعتقد أن هذا خطأ، فأبلغ القائمين على الموقع بالرقم المرجعي أدناه.',
  },
  ja: {
    blocked: { title: 'アクセスが拒否されました', text: 'このサイトはリクエストを拒否しました。' },
    missing: { title: 'ページが見つかりません', text: 'このページは存在しません。アドレスを確認してください。' },
    limited: {
      title: 'リクエストが多すぎます',
      text: 'お使いの接続からのリクエストが多すぎます。しばらく待ってから、もう一度お試しください。',
    },
    busy: { title: 'しばらくしてからもう一度お試しください', text: 'サーバーが混み合っています。' },
    unreachable: {
      title: '現在利用できません',
      text: 'このサイトは現在応答できません。数分後にもう一度お試しください。',
    },
    large: {
      title: '送信データが大きすぎます',
      text: '送信されたデータが、このサイトで受け付けられるサイズを超えています。前のページに戻り、より小さいファイルを送るか、数回に分けて送信してください。',
    },
    invalid: {
      title: '無効なリクエスト',
      text: 'ブラウザーが無効なリクエストを送信しました。アドレスを確認するか、前のページに戻ってもう一度お試しください。',
    },
    reference: '参照番号',
    contact: '間違いだと思われる場合は、参照番号を添えてサイトにご連絡ください:',
    mistake: '間違いだと思われる場合は、下の参照番号をサイトの運営者にお伝えください。',
  },
  ko: {
    blocked: { title: '접근이 거부되었습니다', text: '이 사이트에서 요청을 거부했습니다.' },
    missing: { title: '페이지를 찾을 수 없습니다', text: '존재하지 않는 페이지입니다. 주소를 확인해 주세요.' },
    limited: {
      title: '요청이 너무 많습니다',
      text: '사용 중인 연결에서 너무 많은 요청이 들어왔습니다. 잠시 기다린 후 다시 시도해 주세요.',
    },
    busy: { title: '잠시 후 다시 시도해 주세요', text: '서버가 혼잡합니다.' },
    unreachable: {
      title: '지금은 이용할 수 없습니다',
      text: '이 사이트가 지금 응답할 수 없습니다. 몇 분 후에 다시 시도해 주세요.',
    },
    large: {
      title: '보낸 데이터가 너무 큽니다',
      text: '보낸 데이터가 이 사이트에서 허용하는 크기를 초과합니다. 뒤로 돌아가 더 작은 파일을 보내거나 나누어 보내 주세요.',
    },
    invalid: {
      title: '잘못된 요청',
      text: '브라우저가 잘못된 요청을 보냈습니다. 주소를 확인하거나 뒤로 돌아가 다시 시도해 주세요.',
    },
    reference: '참조 번호',
    contact: '오류라고 생각되면 참조 번호를 적어 사이트에 문의해 주세요:',
    mistake: '오류라고 생각되면 아래 참조 번호를 사이트 운영자에게 알려 주세요.',
  },
  zh: {
    blocked: { title: '访问被拒绝', text: '此网站拒绝了该请求。' },
    missing: { title: '找不到页面', text: '此页面不存在。请检查网址。' },
    limited: { title: '请求过多', text: '来自您的网络连接的请求过多。请稍等片刻后重试。' },
    busy: { title: '请稍后重试', text: '服务器繁忙。' },
    unreachable: { title: '暂时无法访问', text: '此网站暂时无法响应。请几分钟后重试。' },
    large: { title: '发送的内容过大', text: '您发送的内容超过了此网站接受的大小。请返回，发送较小的文件或分批发送。' },
    invalid: { title: '请求无效', text: '您的浏览器发送了无效的请求。请检查网址，或返回后重试。' },
    reference: '参考编号',
    contact: '如果您认为这是误判，请联系网站并提供参考编号：',
    mistake: '如果您认为这是误判，请将下方的参考编号告知网站管理员。',
  },
  'zh-Hant': {
    blocked: { title: '存取遭拒', text: '此網站拒絕了這項要求。' },
    missing: { title: '找不到頁面', text: '此頁面不存在。請檢查網址。' },
    limited: { title: '要求過多', text: '來自您網路連線的要求過多。請稍候再試。' },
    busy: { title: '請稍後再試', text: '伺服器忙碌中。' },
    unreachable: { title: '暫時無法使用', text: '此網站目前無法回應。請於幾分鐘後再試。' },
    large: {
      title: '傳送的內容過大',
      text: '您傳送的內容超過了此網站接受的大小。請返回上一頁，傳送較小的檔案或分批傳送。',
    },
    invalid: { title: '要求無效', text: '您的瀏覽器送出了無效的要求。請檢查網址，或返回上一頁再試一次。' },
    reference: '參考編號',
    contact: '如果您認為這是誤判，請聯絡網站並提供參考編號：',
    mistake: '如果您認為這是誤判，請將下方的參考編號告知網站管理員。',
  },
}
