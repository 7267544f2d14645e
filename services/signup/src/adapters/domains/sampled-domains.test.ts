import { describe, expect, it } from '@jest/globals';
import { createDomainLists } from './domain-lists.ts';

const lists = createDomainLists({ allowed: new Set(), denied: new Set(), company: new Set(), consumer: new Set() });
const names = (text: string): readonly string[] => text.trim().split(/\s+/);
const isCompany = (domain: string): boolean => lists.refusalOf(domain) === null && lists.companyDomain(domain) !== null;

/** Providers of mail and of connections, country by country: strangers to each other have their addresses there. */
const SHARED_BY_STRANGERS = names(`
  gmail.com googlemail.com yahoo.com yahoo.co.uk yahoo.fr yahoo.de yahoo.co.jp yahoo.com.br yahoo.com.sg yahoo.co.in
  yahoo.gr ymail.com rocketmail.com myyahoo.com outlook.com outlook.de outlook.fr outlook.jp outlook.kr hotmail.com
  hotmail.co.uk hotmail.ch live.com live.nl live.ca live.com.sg windowslive.com msn.com aol.com aim.com icloud.com
  me.com mac.com gmx.de gmx.net gmx.at gmx.ch gmx.com gmx.us gmx.co.uk web.de t-online.de freenet.de arcor.de mail.de
  email.de online.de mail.ru bk.ru list.ru inbox.ru internet.ru yandex.ru yandex.com yandex.kz ya.ru rambler.ru lenta.ru
  autorambler.ru myrambler.ru ro.ru ukr.net i.ua meta.ua seznam.cz email.cz centrum.cz atlas.cz post.cz spoluzaci.cz
  azet.sk zoznam.sk centrum.sk pobox.sk wp.pl o2.pl interia.pl interia.eu poczta.fm onet.pl poczta.onet.pl vp.pl op.pl
  gazeta.pl tlen.pl go2.pl libero.it virgilio.it tiscali.it alice.it tin.it inwind.it iol.it blu.it orange.fr wanadoo.fr
  free.fr sfr.fr laposte.net neuf.fr club-internet.fr aliceadsl.fr bbox.fr skynet.be telenet.be proximus.be scarlet.be
  hotmail.be planet.nl home.nl upcmail.nl casema.nl hetnet.nl quicknet.nl chello.nl zonnet.nl bluewin.ch hispeed.ch
  sunrise.ch comcast.net verizon.net att.net sbcglobal.net bellsouth.net ameritech.net pacbell.net swbell.net cox.net
  charter.net earthlink.net juno.com netzero.net netzero.com roadrunner.com optonline.net optimum.net windstream.net
  frontier.com frontiernet.net centurylink.net centurytel.net embarqmail.com q.com mchsi.com suddenlink.net twc.com
  rr.com cableone.net peoplepc.com prodigy.net shaw.ca rogers.com sympatico.ca videotron.ca telus.net eastlink.ca
  cogeco.ca bell.net btinternet.com bt.com btopenworld.com sky.com ntlworld.com virginmedia.com virgin.net talktalk.net
  tiscali.co.uk blueyonder.co.uk freeserve.co.uk o2.co.uk bigpond.com bigpond.net.au optusnet.com.au iinet.net.au
  internode.on.net tpg.com.au dodo.com.au westnet.com.au ozemail.com.au xtra.co.nz slingshot.co.nz orcon.net.nz
  clear.net.nz qq.com vip.qq.com 163.com 126.com sina.com sina.cn foxmail.com aliyun.com yeah.net 188.com tom.com
  21cn.com sohu.com 139.com naver.com daum.net hanmail.net nate.com kakao.com docomo.ne.jp ezweb.ne.jp softbank.ne.jp
  i.softbank.jp nifty.com biglobe.ne.jp so-net.ne.jp ocn.ne.jp rediffmail.com indiatimes.com sify.com uol.com.br
  bol.com.br terra.com.br ig.com.br globo.com globomail.com r7.com zipmail.com.br oi.com.br hotmail.com.ar
  fibertel.com.ar arnet.com.ar speedy.com.ar ciudad.com.ar prodigy.net.mx infinitum.com.mx protonmail.com proton.me
  pm.me tutanota.com tuta.io hushmail.com hush.com zoho.com mail.com email.com usa.com post.com consultant.com
  engineer.com europe.com asia.com dr.com lawyer.com accountant.com techie.com writeme.com iname.com inbox.com lycos.com
  excite.com netscape.net abv.bg mail.bg dir.bg freemail.hu citromail.hu indamail.hu t-online.hu in.gr otenet.gr
  forthnet.gr hol.gr walla.co.il walla.com netvision.net.il bezeqint.net 012.net.il zahav.net.il mynet.com
  superonline.com turk.net ttmail.com online.no telia.com spray.se passagen.se bredband.net comhem.se tele2.se
  swipnet.se jubii.dk tdcadsl.dk sol.dk mail.dk ofir.dk elisanet.fi kolumbus.fi luukku.com pp.inet.fi welho.com
  saunalahti.fi mail.ee hot.ee inbox.lv apollo.lv one.lt delfi.lt inbox.lt sapo.pt clix.pt iol.pt netcabo.pt
  mail.telepac.pt telefonica.net terra.es ya.com ono.com movistar.es eresmas.com euskalnet.net emirates.net.ae eim.ae
  singnet.com.sg pacific.net.sg starhub.net.sg tm.net.my streamyx.com pldtdsl.net vnn.vn mweb.co.za telkomsa.net
  vodamail.co.za webmail.co.za iafrica.com fastmail.com fastmail.fm hey.com duck.com posteo.de mailbox.org runbox.com
  disroot.org riseup.net startmail.com mailfence.com countermail.com kolabnow.com skiff.com cock.li tutamail.com
  keemail.me onmail.com firemail.de gmx.li caramail.com voila.fr numericable.fr ntlworld.ie eircom.net eircom.ie iol.ie
  indigo.ie vodafone.ie upcmail.ie siol.net volja.net t-2.net amis.net net.hr inet.hr xnet.hr vip.hr eunet.rs sbb.rs
  ptt.rs open.telekom.rs yubc.net bih.net.ba t-home.mk mail.md yahoo.ro k.ro home.ro clicknet.ro tut.by mail.by bk.by
  inbox.kz mail.kz nur.kz gmx.fr gmx.es gmx.it kabelmail.de vodafone.de unitymedia.de qip.ru pochta.ru nm.ru hotbox.ru
  land.ru newmail.ru smtp.ru e1.ru ngs.ru sibmail.com tochka.ru bigmir.net email.ua online.ua ua.fm freemail.ru aport.ru
  rbcmail.ru km.ru chat.ru mail15.com nigma.ru hotmail.gr mailinator.com sharklasers.com privaterelay.appleid.com
  simplelogin.com anonaddy.me users.noreply.github.com mozmail.com tznet.com bresnan.net hawaiiantel.net gci.net
  alaska.net sonic.net pacifier.com aliceposta.it pec.it arubapec.it tim.it vodafone.it fastwebnet.it email.it
  katamail.com hotmail.co.th chaiyo.com thaimail.com sanook.com yahoo.co.th truemail.co.th hinet.net ms1.hinet.net
  seed.net.tw yam.com pchome.com.tw netvigator.com biznetvigator.com hkbn.net i-cable.com so-net.net.tw vip.163.com
  wo.cn 189.cn chinaren.com cableonda.net cantv.net etb.net.co une.net.co telmex.net.co vtr.net entel.cl terra.cl tie.cl
  speedy.com.pe terra.com.pe hotmail.com.br adinet.com.uy ice.co.cr racsa.co.cr etecsa.cu nauta.cu safe-mail.net
  lavabit.com elude.in onet.com.pl student.com alumni.com mailcity.com bellnet.ca mts.net sasktel.net nl.rogers.com
  aliant.net nb.sympatico.ca nf.sympatico.ca tbaytel.net xplornet.com ymail.ne.jp mail.goo.ne.jp excite.co.jp
  infoseek.jp livedoor.com gol.com jcom.home.ne.jp dion.ne.jp au.com vodafone.ne.jp lycos.co.kr korea.com dreamwiz.com
  empal.com freechal.com chol.com hanafos.com hitel.net kornet.net unitel.co.kr paran.com fastmail.cn fastmail.co.uk
  fastmail.com.au fastmail.es fastmail.in fastmail.jp fastmail.net fastmail.to fastmail.us fastmail.org sent.com sent.as
  sent.at 123mail.org 150mail.com 150ml.com airpost.net allmail.net bestmail.us cluemail.com elitemail.org
  emailcorner.net emailengine.net eml.cc f-m.fm fast-email.com fast-mail.org fastem.com fastemail.us fastest.cc
  fastimap.com fastmailbox.net fea.st fmail.co.uk fmailbox.com fmgirl.com fmguy.com ftml.net hailmail.net imap-mail.com
  imap.cc imapmail.org inoutbox.com internet-e-mail.com internetemails.net internetmailing.net jetemail.net
  justemail.net letterboxes.org mail-central.com mail-page.com mailandftp.com mailbolt.com mailc.net mailcan.com
  mailforce.net mailftp.com mailhaven.com mailingaddress.org mailite.com mailmight.com mailnew.com mailsent.net
  mailservice.ms mailup.net mailworks.org ml1.net mm.st myfastmail.com mymacmail.com nospammail.net ownmail.net
  petml.com postinbox.com postpro.net proinbox.com promessage.com realemail.net reallyfast.biz reallyfast.info
  rushpost.com speedpost.net ssl-mail.com swift-mail.com the-fastest.net the-quickest.com theinternetemail.com
  veryfast.biz veryspeedy.net warpmail.net xsmail.com yepmail.net your-mail.com protonmail.ch hush.ai hushmail.me
  mac.hush.com runbox.no runbox.me posteo.se posteo.it posteo.cz posteo.co zohomail.com zohomail.jp tutanota.de tuta.com
  mailo.com net-c.com netc.fr netcourrier.com ybb.ne.jp yahoo.ne.jp ybb.co.jp ocn.jp mail.com.tr email.com.tr
  hotmail.com.tr ttnet.net.tr gmail.co.uk gawab.com maktoob.com hotmail.sa saudi.net.sa cyber.net.pk hotmail.com.pk
  bsnl.in airtelmail.in dataone.in vsnl.net vsnl.com hathway.com in.com bigstring.com inbox.si mailbox.hu chello.hu
  vipmail.hu upcmail.hu email.si gmail.si poste.it optinet.hr zg.t-com.hr st.t-com.hr ri.t-com.hr t-com.hr t-com.me
  globalnet.hr email.t-com.hr mts.rs verat.net beotel.net beotel.rs nadlanu.com mail.al abcom.al albmail.com
  cytanet.com.cy spidernet.com.cy primehome.com maltanet.net onvol.net go.net.mt melita.com simnet.is visir.is
  internet.is hive.is pt.lu vo.lu internet.lu voila.net posta.ro mail.ge caucasus.net mail.am rambler.ua mail.az box.az
  mail.uz umail.uz inbox.uz mail.tj mail.kg elcat.kg gmail.kz ok.kz topmail.kz sify.co.in ptt.net.tr viettel.vn
  hn.vnn.vn hcm.vnn.vn fpt.net centrum.lv tvnet.lv navigator.lv latnet.lv takas.lt mail.lt zebra.lt gmail.lt mail.gr
  freemail.gr pathfinder.gr mailbox.gr vodafone.gr hotmail.ee online.ee neti.ee suhtlus.ee solo.delfi.ee snet.ee
  starman.ee infonet.ee hotmail.fi nettikirje.fi dnainternet.net sci.fi netti.fi phnet.fi suomi24.fi wippies.com
  kotinet.com surffi.net get2net.dk stofanet.dk post.tele.dk post6.tele.dk mail.tele.dk tele2.dk youmail.dk webspeed.dk
  email.dk cool.dk privat.dk getmail.no frisurf.no broadpark.no c2i.net start.no hjem.no epost.no lyse.net bkkfiber.no
  telenor.no ebnett.no altibox.no glocalnet.net home.se hem.utfors.se telia.se bahnhof.se ownit.nu bostream.nu brevet.nu
`);

/** Companies, authorities and universities, among them those whose customers have another domain than their people. */
const OF_ONE_COMPANY = names(`
  ee.co.uk migadu.com 1und1.de strato.de ionos.de aruba.it gov.si zain.com jazz.com.pk posta.hr google.com microsoft.com
  apple.com amazon.com ibm.com oracle.com sap.com siemens.com bosch.com bmw.de volkswagen.de allianz.de telekom.de
  telekom.com vodafone.com orange.com nokia.com ericsson.com samsung.com sony.com toyota.com tesla.com spotify.com
  zoom.us stripe.com paypal.com salesforce.com adobe.com intel.com nvidia.com cisco.com dell.com hp.com accenture.com
  deloitte.com pwc.com ubs.com ing.com shell.com bp.com cern.ch mit.edu stanford.edu ox.ac.uk cam.ac.uk ethz.ch tum.de
  admin.ch nasa.gov europa.eu nestle.com novartis.com roche.com pfizer.com bayer.com basf.com unilever.com walmart.com
  starbucks.com telstra.com.au comcast.com charter.com cox.com verizon.com att.com total.com twitter.com wordpress.com
  disney.com bbc.co.uk nytimes.com ford.com airbus.com lufthansa.com rakuten.com softbank.com tencent.com huawei.com
  yandex-team.ru naver-corp.com kakaocorp.com hetzner.com ovh.com cloudflare.com godaddy.com mozilla.com gitlab.com
  zapier.com hubspot.com toast.com zalando.de rewe.de bahn.de post.ch mailchimp.com mailgun.com mailerlite.com
  emailage.com inboxlab.com
`);

describe('a sample of domains that are known', () => {
  it('[SIGN-04] [SIGN-07] none at which strangers have addresses is that of a company', () => {
    expect(SHARED_BY_STRANGERS.filter(isCompany)).toEqual([]);
  });

  it('[SIGN-07] each that has one owner is that of a company', () => {
    expect(OF_ONE_COMPANY.filter((domain) => !isCompany(domain))).toEqual([]);
  });

  it.each(['mail.pk', 'inbox.ge', 'posteo.fi', 'fastmail.no', 'e-mail.hr', 'freemail.mk'])(
    '[SIGN-07] nor is %s, the national one of a brand',
    (domain) => {
      expect(isCompany(domain)).toBe(false);
    },
  );
});
