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
  123mail.org 150mail.com 16mail.com 2-mail.com 2980.com 2iij.net 30minutesmail.com 3126.com 3g.ua 50mail.com 74.ru abcom.al abwesend.de
  adam.com.au addcom.de address.com adrenalinefreak.com adsl.no africamel.net airmail.cc albmail.com aliant.net aliceposta.it alpenjodel.de
  alphafrau.de amis.net animail.net annsmail.com aport.ru aport2000.ru auone-net.jp aussiemail.com.au bahnhof.se baldmama.de baldpapa.de bbiq.jp
  bbnett.no bbtec.net bellair.net beotel.net beotel.rs betriebsdirektor.de bih.net.ba bin-wieder-da.de bk.by bkkfiber.no bleib-bei-mir.de
  bluezone.no bostream.nu box.ua brevet.nu briefemail.com brusseler.com buerotiger.de cableonda.net caucasus.net center-mail.de centermail.at
  centermail.de centermail.info centrum.lv certifiedmail.com chaiyo.com china.com chinaren.com chollian.net citiz.net clubnetnoir.com commufa.jp
  cool.dk coole-files.de cyber-matrix.com cyber.net.pk cytanet.com.cy dezigner.ru die-besten-bilder.de die-genossen.de die-optimisten.de
  die-optimisten.net diemailbox.de digital-filestore.de download-privat.de e1.ru ebnett.no eircom.ie elcat.kg elitemail.org elude.in email4u.info
  emailasso.net emailengine.org emailit.com emailplus.org eml.cc emnet.ne.jp emobile.ne.jp entel.cl epage.ru epost.no etb.net.co etecsa.cu
  euromail.hu europamel.net euskalnet.net everymail.net f-m.fm fahr-zur-hoelle.org fast-email.com fast-mail.org fastest.cc fax.ru fea.st
  feinripptraeger.de fettabernett.de force9.co.uk fpt.net francemel.fr free-online.net freudenkinder.de gencmail.com gentlemansclub.de
  geography.net get2net.dk girl4god.com globalnet.hr gmx-ist-cool.de gmx-topmail.de go.net.mt gol.com goodnewsmail.com h-mail.us
  hab-verschlafen.de habmalnefrage.de hanafos.com hananet.net hanmail2.net hathway.com haugnett.no hem.utfors.se herr-der-mails.de hitmail.com
  hive.is hjem.no hol.gr home.de honduras.com hotbox.ru hu2.ru hurting.com ice.co.cr ich-bin-verrueckt-nach-dir.de ich-will-net.de idigjesus.com
  iij4u.or.jp ilkposta.com imap-mail.com imap.cc imapmail.org in2jesus.com index.ua inet.hr infinitum.com.mx infonet.ee infoseek.co.jp
  infoweb.ne.jp inmail24.com inoutbox.com instructor.net internet-e-mail.com internet-mail.org internet.is internet.lu iservejesus.com
  ist-allein.info ist-einmalig.de ist-ganz-allein.de ist-willig.de jubiichat.dk jubiiconnect.dk jubiigames.dk jubiipost.dk jubiipostadresse.dk
  kaffeeschluerfer.com kaffeeschluerfer.de km.ru kommespaeter.de kornet.net kotinet.com krim.ws lajt.hu lass-es-geschehen.de latnet.lv
  letterboxes.org liebt-dich.info listomail.com littleapple.com locos.com losmail.no lovefootball.com lovethebroncos.com lovethecowboys.com
  loveyouforever.de lvie.com.sg maennerversteherin.com maennerversteherin.de mail2k.ru mail4u.info mailinblack.com mailingaddress.org
  mailpokemon.com mailservice.ms mailueberfall.de mailworks.org maltanet.net maltesemail.com mancity.net marijuana.com megaegg.ne.jp
  meine-dateien.info meine-diashow.de meine-fotos.info meine-urlaubsfotos.de melita.com mesh.ad.jp millionairemail.com mimer.no mineo.jp mm.st
  momslife.com monemail.com mopera.net mts.rs muskelshirt.de muslimsonline.com my.com myfastmail.com mymacmail.com myyahoo.com n2baseball.com
  n2soccer.com nadlanu.com nauta.cu net.hr netcmail.com netcom.no netnoir.net netsgo.com nettemail.com netterchef.de nettikirje.fi neue-dateien.de
  newsboysmail.com nextmail.ru ngs.ru nigma.ru nm.ru nownuri.net ntebb.no ntlworld.ie nur.kz ocn.jp odn.ad.jp office-dateien.de ok.kz
  online-home.de onvol.net open.telekom.rs openmailbox.org opoczta.pl optinet.hr ownit.nu pacifier.com pakistanmail.com panda.tnc.ne.jp
  partybombe.de partyheld.de pdx.ne.jp perso.be phone.net pianomail.com pikara.ne.jp pokemonpost.com pokepost.com polizisten-duzer.de
  post6.tele.dk postfach.cc primehome.com programist.ru pt.lu ptt.net.tr ptt.rs public-files.de purpleturtle.com qip.ru qmail.com quantentunnel.de
  racsa.co.cr rakumail.jp raubtierbaendiger.de rbcmail.ru reallyfast.info renren.com runbox.me runbox.no saeuferleber.de sags-per-mail.de
  saudi.net.sa sbb.rs scarlet.nl schmusemail.de schreib-doch-mal-wieder.de scotland.com search.ua seckinmail.com sensewave.com sent.as sent.at
  shared-files.de shinedyoureyes.com shortmail.com sify.co.in simnet.is singles4jesus.com siol.net sky.tkc.ne.jp sky.tkk.ne.jp sky.tu-ka.ne.jp
  smtp.ru snet.ee so-net.net.tw sogou.com solo.delfi.ee sonic.net sonnenkinder.org spaaqs.ne.jp speedy.com.pe speedymail.org spidernet.com.cy
  ssl-mail.com starman.ee start.no stipte.nl stoned.com streber24.de student.com student.su suhtlus.ee surffi.net sweetville.net swift-mail.com
  t-2.net t-home.mk tankpolice.com teachermail.net telfortglasvezel.nl telia.se telmex.net.co terminverpennt.de theinternetemail.com themail.com
  thrunet.com tie.cl tiki.ne.jp tochka.ru tokai.or.jp topmail-files.de topmail.kz tortenboxer.de totalmail.de truemail.co.th truthmail.com
  turboprinz.de turboprinzessin.de tvnet.lv tznet.com ua.fm ucom.ne.jp uk2.net ukrpost.net umail.uz unitymedia.de unterderbruecke.de uqmobile.jp
  vampirehunter.com verat.net verlass-mich-nicht.de viettel.vn vip.hr virginbroadband.com.au visir.is vo.lu vodafone.gr vodafonethuis.nl voila.net
  volja.net vollbio.de volloeko.de vorsicht-bissig.de vorsicht-scharf.de war-im-urlaub.de wcm.ne.jp weibsvolk.de weibsvolk.org weinenvorglueck.de
  will-hier-weg.de wippies.com wir-haben-nachwuchs.de wir-sind-cool.org wirsindcool.de women-at-work.org xaker.ru xms.nl xnet.hr ybb.co.jp
  ymobile1.ne.jp your-mail.com yubc.net zaq.ne.jp zebra.lt zohomail.jp zweb.in
`
  .trim()
  .split(/\s+/);

/** Providers with a domain in many countries: the part before the public suffix. */
export const CONSUMER_BRANDS: ReadonlySet<string> = new Set([
  'aol',
  'caramail',
  'chello',
  'e-mail',
  'email',
  'eunet',
  'fastmail',
  'freemail',
  'gmail',
  'gmx',
  'googlemail',
  'hotmail',
  'hushmail',
  'icloud',
  'inbox',
  'live',
  'lycos',
  'mail',
  'mailbox',
  'msn',
  'net-c',
  'netc',
  'netcourrier',
  'outlook',
  'posteo',
  'proton',
  'protonmail',
  'rambler',
  'rocketmail',
  't-com',
  't-online',
  'tele2',
  'terra',
  'thexyz',
  'tiscali',
  'tutanota',
  'upcmail',
  'vipmail',
  'wanadoo',
  'webmail',
  'yahoo',
  'yandex',
  'ymail',
  'zoho',
]);

/** Domains that the lists of disposable ones have, and that are none: a provider of mail, or a suffix that companies register under. */
export const NOT_DISPOSABLE: readonly string[] = ['21cn.com', 'sify.com', 'za.com'];
