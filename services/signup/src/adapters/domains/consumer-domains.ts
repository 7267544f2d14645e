/** Domains at which anybody can have an address, and that the list of providers misses. */
export const MORE_CONSUMER_DOMAINS: readonly string[] = `
  passport.com 21cn.com sify.com sohu.com 139.com 189.cn kakao.com au.com ezweb.ne.jp docomo.ne.jp softbank.ne.jp
  tutanota.com tutanota.de tuta.com tuta.io tutamail.com keemail.me fastmail.com hey.com skiff.com onmail.com internxt.com
  zohomail.com zohomail.eu zohomail.in internet.ru xmail.ru vk.com ya.ru mail.bg meta.ua bigmir.net mynet.com
  posteo.de posteo.net posteo.at posteo.ch posteo.eu posteo.us mailbox.org mailfence.com startmail.com disroot.org riseup.net ctemplar.com autistici.org systemli.org
  volny.cz op.pl onet.eu ziggo.nl xs4all.nl kpnmail.nl hispeed.ch sunrise.ch telia.com telenor.no online.no tele2.se tele2.nl suomi24.fi inbox.lt inbox.eu
  a1.net chello.at aon.at vodafone.de vodafone.it vodafone.es vodafone.nl kabelmail.de unitybox.de magenta.at ewe.net ewetel.net osnanet.de netcologne.de
  bell.net bellaliant.net telus.net eastlink.ca tiscali.co.uk plus.net plusnet.com zen.co.uk eircom.net
  duck.com mozmail.com relay.firefox.com privaterelay.appleid.com simplelogin.com simplelogin.io simplelogin.co aleeas.com slmail.me
  addy.io anonaddy.com anonaddy.me passmail.net passmail.com passinbox.com passfwd.com hide.me erine.email
  onmicrosoft.com onmicrosoft.us onmicrosoft.de partner.onmschina.cn mail.protection.outlook.com
  zendesk.com freshdesk.com helpscout.net helpscoutapp.com intercom-mail.com intercom.io groups.io googlegroups.com
  github.com users.noreply.github.com atlassian.net slack.com mailgun.org sendgrid.net amazonses.com
`
  .trim()
  .split(/\s+/);

/** Providers with a domain in many countries: the part before the public suffix. */
export const CONSUMER_BRANDS: ReadonlySet<string> = new Set([
  'gmail',
  'googlemail',
  'gmx',
  'hotmail',
  'icloud',
  'live',
  'msn',
  'outlook',
  'proton',
  'protonmail',
  'rocketmail',
  'tutanota',
  'yahoo',
  'yandex',
  'ymail',
]);

/** Domains that the lists of disposable ones have, and that are none: a provider of mail, or a suffix that companies register under. */
export const NOT_DISPOSABLE: readonly string[] = ['21cn.com', 'sify.com', 'za.com'];
