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
  compuserve.de magenta.de o2online.de o2mail.de o2.de alice.de alice-dsl.de alice-dsl.net hansenet.de versanet.de vodafonemail.de arcormail.de
  mnet-online.de mnet-mail.de m-net.de ok.de firemail.de firemail.eu unity-mail.de smart-mail.de emailn.de genion.de kabelbw.de primacom.net
  tele-columbus.net wolke7.net nexgo.de ish.de directbox.com t-online.at utanet.at inode.at liwest.at drei.at kabsi.at sms.at swissonline.ch
  romandie.com freesurf.ch tiscalinet.ch vtxmail.ch netplus.ch quickline.ch ticino.com numericable.fr noos.fr bbox.fr cegetel.net 9online.fr
  9business.fr libertysurf.fr infonie.fr dbmail.com mailo.com tim.it giallo.it tiscalinet.it fastwebnet.it infinito.it pec.it legalmail.it postecert.it
  arubapec.it telefonica.net ono.com movistar.es ya.com jazztel.es euskaltel.net mundo-r.com mail.telepac.pt clix.pt netcabo.pt iol.pt vodafone.pt
  meo.pt nos.pt lineone.net supanet.com uwclub.net madasafish.com plus.com onetel.com f2s.com tesco.net which.net indigo.ie iol.ie vodafone.ie
  proximus.be pandora.be scarlet.be belgacom.net kpnplanet.nl casema.nl quicknet.nl telfort.nl caiway.nl caiway.net solcon.nl online.nl wxs.nl hccnet.nl
  dds.nl onsbrabantnet.nl kabelfoon.nl multiweb.nl zeelandnet.nl orange.nl versatel.nl concepts.nl kickmail.nl lijbrandt.nl upc.nl comhem.se
  bredband.net passagen.se glocalnet.net swipnet.se ownit.se broadpark.no lyse.net altibox.no getmail.no frisurf.no mail.dk tdcadsl.dk stofanet.dk
  jubii.dk ofir.dk youmail.dk privat.dk post.tele.dk webspeed.dk mail.tele.dk image.dk elisanet.fi kolumbus.fi saunalahti.fi pp.inet.fi inet.fi netti.fi
  welho.com dnainternet.net phnet.fi mbnet.fi interia.eu interia.com onet.com.pl vp.pl tlen.pl go2.pl buziaczek.pl autograf.pl spoko.pl amorki.pl
  neostrada.pl atlas.cz quick.cz o2active.cz spoluzaci.cz stream.cz azet.sk zoznam.sk stonline.sk orangemail.sk szm.sk atlas.sk citromail.hu indamail.hu
  vipmail.hu invitel.hu digikabel.hu dir.bg gbg.bg k.ro rdslink.ro clicknet.ro otenet.gr in.gr pathfinder.gr cosmotemail.gr superonline.com ttmail.com
  turk.net ttnet.net.tr e-kolay.net lenta.ru myrambler.ru autorambler.ru ro.ru mail.ua email.ua online.ua tut.by one.lv delfi.lv delfi.lt one.lt
  takas.lt online.ee neti.ee wo.cn wo.com.cn 263.net hanmir.com paran.com empal.com dreamwiz.com freechal.com unitel.co.kr chol.com hitel.net
  ymobile.ne.jp nifty.com nifty.ne.jp biglobe.ne.jp so-net.ne.jp ocn.ne.jp plala.or.jp dion.ne.jp odn.ne.jp asahi-net.or.jp goo.jp goo.ne.jp
  livedoor.com jcom.zaq.ne.jp eonet.ne.jp dti.ne.jp hi-ho.ne.jp wakwak.com kcn.ne.jp t-com.ne.jp vodafone.ne.jp willcom.com disney.ne.jp hinet.net
  msa.hinet.net seed.net.tw pchome.com.tw url.com.tw giga.net.tw netvigator.com hkbn.net i-cable.com hknet.com biznetvigator.com ctimail.com
  starhub.net.sg pacific.net.sg streamyx.com tm.net.my pldtdsl.net cbn.net.id indosat.net.id in.com vsnl.com vsnl.net bsnl.in bsnl.co.in airtelmail.in
  dataone.in exetel.com.au aapt.net.au slingshot.co.nz clear.net.nz paradise.net.nz ihug.co.nz orcon.net.nz vodafone.co.nz pop.com.br superig.com.br
  brturbo.com.br ciudad.com.ar uolsinectis.com.ar vtr.net entelchile.net manquehue.net cantv.net une.net.co adinet.com.uy nvbell.net flash.net gte.net
  suddenlink.net mediacombb.net sparklight.com insightbb.com knology.net alaska.net metrocast.net sasktel.net mts.net execulink.com xplornet.com
  northwestel.net tbaytel.net bezeqint.net 012.net.il barak.net.il inter.net.il nana.co.il nana10.co.il 013.net 013.net.il mweb.co.za telkomsa.net
  vodamail.co.za iafrica.com absamail.co.za lantic.net polka.co.za xsinet.co.za emirates.net.ae eim.ae link.net tedata.net.eg menara.ma countermail.com
  kolabnow.com
`
  .trim()
  .split(/\s+/);

/** Providers with a domain in many countries: the part before the public suffix. */
export const CONSUMER_BRANDS: ReadonlySet<string> = new Set([
  'aol',
  'caramail',
  'chello',
  'gmail',
  'gmx',
  'googlemail',
  'hotmail',
  'icloud',
  'live',
  'lycos',
  'msn',
  'outlook',
  'proton',
  'protonmail',
  'rocketmail',
  'tele2',
  'terra',
  'tiscali',
  'tutanota',
  'upcmail',
  'wanadoo',
  'yahoo',
  'yandex',
  'ymail',
  'zoho',
]);

/** Domains that the lists of disposable ones have, and that are none: a provider of mail, or a suffix that companies register under. */
export const NOT_DISPOSABLE: readonly string[] = ['21cn.com', 'sify.com', 'za.com'];
