//! Characters that packages beyond KaTeX's name: amssymb's rest, stmaryrd, textcomp, wasysym and
//! the everyday part of unicode-math. KaTeX's own tables are the source for everything else.

use super::tree::Class;

/// Every name with its character and class. KaTeX has some of them too, for text only.
pub(super) fn extra() -> impl Iterator<Item = (&'static str, &'static str, Class)> {
    TABLE.iter().flat_map(|(class, pairs)| {
        let mut words = pairs.split_whitespace();
        std::iter::from_fn(move || Some((words.next()?, words.next()?, *class)))
    })
}

const TABLE: &[(Class, &str)] = &[
    (Class::Ord, TEXT),
    (Class::Ord, SIGNS),
    (Class::Ord, LETTERS),
    (Class::Rel, RELATIONS),
    (Class::Rel, ARROWS),
    (Class::Bin, OPERATORS),
    (Class::Op, LARGE),
    (
        Class::Open,
        "lBrack ⟦ lbrbrak ❲ lAngle ⟪ llangle ⟪ lbag ⟅ llparenthesis ⦇ Lbrbrak ⟬ lParen ⦅",
    ),
    (
        Class::Close,
        "rBrack ⟧ rbrbrak ❳ rAngle ⟫ rrangle ⟫ rbag ⟆ rrparenthesis ⦈ Rbrbrak ⟭ rParen ⦆",
    ),
];

/// Text symbols; the parser takes these in text only.
const TEXT: &str = "
    textdagger † textdaggerdbl ‡ textdollar $ textunderscore _ textbraceleft { textbraceright }
    textless < textgreater > textbar | textbardbl ∥ textasciitilde ~ textbackslash \\
    textasciicircum ^ textellipsis … textendash – textemdash — textquoteleft ‘ textquoteright ’
    textquotedblleft “ textquotedblright ” textdegree ° textsterling £ i ı j ȷ ss ß ae æ oe œ o ø
    AE Æ OE Œ O Ø l ł L Ł dh ð DH Ð dj đ DJ Đ ng ŋ NG Ŋ TH Þ SS ẞ
    texteuro € euro € EUR € textcent ¢ cents ¢ textyen ¥ textwon ₩ textpeso ₱ textbaht ฿
    textcurrency ¤ textflorin ƒ textsection § textparagraph ¶ textbullet • textperiodcentered ·
    textonehalf ½ textonequarter ¼ textthreequarters ¾ textonesuperior ¹ texttwosuperior ²
    textthreesuperior ³ textmu µ textohm Ω textmho ℧ textcelsius ℃ texttimes × textdiv ÷ textpm ±
    textminus − textfractionsolidus ⁄ textordfeminine ª textordmasculine º texttrademark ™
    textservicemark ℠ textnumero № textestimated ℮ textinterrobang ‽ textreferencemark ※
    textexclamdown ¡ textquestiondown ¿ textasciimacron ¯ textasciiacute ´ textasciidieresis ¨
    textasciigrave ` textacutedbl ˝ textbrokenbar ¦ textlnot ¬ textvisiblespace ␣ textsurd √
    textperthousand ‰ textpertenthousand ‱ perthousand ‰ permil ‰ textleftarrow ← textrightarrow →
    textuparrow ↑ textdownarrow ↓ textmusicalnote ♪ textopenbullet ◦ textbigcircle ◯
    textlangle ⟨ textrangle ⟩ textlbrackdbl ⟦ textrbrackdbl ⟧ textquotesingle ' textquotedbl \"
    guillemotleft « guillemotright » guilsinglleft ‹ guilsinglright › quotesinglbase ‚
    quotedblbase „ ldq “ rdq ” ieuro € slash / textblank ␢";

const SIGNS: &str = "
    cmark ✓ xmark ✗ tick ✓ cross ✗ ballotx ✗ checked ✓ CheckedBox ☑ XBox ☒ Square ☐ 
    qed □ QED ∎ lightning ↯ smiley ☺ frownie ☹ blacksmiley ☻ sun ☼ astrosun ☉ leftmoon ☾
    rightmoon ☽ earth ♁ mercury ☿ venus ♀ mars ♂ jupiter ♃ saturn ♄ uranus ♅ neptune ♆ pluto ♇
    male ♂ female ♀ Mars ♂ Venus ♀ aries ♈ taurus ♉ gemini ♊ cancer ♋ leo ♌ virgo ♍ libra ♎
    scorpio ♏ sagittarius ♐ capricornus ♑ aquarius ♒ pisces ♓ phone ☎ bell ⍾ pencil ✎ clock ◷
    recycle ♻ eighthnote ♪ quarternote ♩ twonotes ♫ musicalnote ♪ 
    varheartsuit ♥ vardiamondsuit ♦ varspadesuit ♤ varclubsuit ♧ heartsuitblack ♥ varheart ♥
    medbullet ⚫ medcirc ⚪ blackdiamond ◆ whitediamond ◇ whitesquare □ mdlgblksquare ■
    mdlgwhtsquare □ smblksquare ▪ smwhtsquare ▫ mdsmblksquare ◾ bigblacktriangleup ▲ LHD ◀ RHD ▶
    bigwhitestar ☆ whitestar ☆ bigstarblack ★ mdlgblkcircle ● mdlgwhtcircle ○ mdlgblkdiamond ◆
    mdlgwhtdiamond ◇ mdlgblklozenge ⧫ mdlgwhtlozenge ◊ circledplus ⊕ CIRCLE ● Circle ○
    LEFTCIRCLE ◖ RIGHTCIRCLE ◗ LEFTcircle ◐ RIGHTcircle ◑ Bowtie ⋈ diameter ⌀ invdiameter ⍉
    wasylozenge ⌑ hexagon ⬡ varhexagon ⬢ pentagon ⬠ octagon ⯃ rightangle ∟ rightanglearc ⊾
    measuredrightangle ⊾ sphericalangleup ⦡ increment ∆ QuarterCircle ◔ iinfin ⧜ nvinfty ⧞
    tieinfty ⧝ turnednot ⌐ invnot ⌐ APLnot ∼ house ⌂ varcarriagereturn ⏎ carriagereturn ↵ danger ☡
    biohazard ☣ radiation ☢ skull ☠ peace ☮ yinyang ☯ mathdollar $ mathcolon : mathperiod .
    mathsection § mathparagraph ¶ mathyen ¥ mathcent ¢ dprime ″ trprime ‴ qprime ⁗ backdprime ‶
    backtrprime ‷ enleadertwodots ‥ unicodeellipsis … unicodecdots ⋯ adots ⋰ iddots ⋰
    mathunderbar _ caretinsert ‸ tieconcat ⁀ fracslash ⁄ horizbar ― twolowline ‗ Exclam ‼ Question ⁇
    revemptyset ⦰ emptysetobar ⦱ emptysetocirc ⦲ emptysetoarr ⦳ lrtriangle ⊿
    smalltriangle ▵ wasytherefore ∴ Proportion ∷";

const LETTERS: &str = "
    Angstrom Å angstrom Å upbackepsilon ϶ Sampi Ϡ sampi ϡ Koppa Ϟ koppa ϟ coppa ϙ Coppa Ϙ
    Stigma Ϛ stigma ϛ Digamma Ϝ varbeta ϐ upvarbeta ϐ euler ℇ Eulerconst ℇ planck ℎ Planckconst ℎ
    scrg ℊ  Zbar Ƶ Yup ⅄ PropertyLine ⅊ ac ∾ invlazys ∾ 
    upalpha α upbeta β upgamma γ updelta δ upepsilon ϵ upvarepsilon ε upzeta ζ upeta η uptheta θ
    upvartheta ϑ upiota ι upkappa κ upvarkappa ϰ uplambda λ upmu μ upnu ν upxi ξ upomicron ο uppi π
    upvarpi ϖ uprho ρ upvarrho ϱ upsigma σ upvarsigma ς uptau τ upupsilon υ upphi ϕ upvarphi φ
    upchi χ uppsi ψ upomega ω upAlpha Α upBeta Β upGamma Γ upDelta Δ upEpsilon Ε upZeta Ζ upEta Η
    upTheta Θ upIota Ι upKappa Κ upLambda Λ upMu Μ upNu Ν upXi Ξ upOmicron Ο upPi Π upRho Ρ
    upSigma Σ upTau Τ upUpsilon Υ upPhi Φ upChi Χ upPsi Ψ upOmega Ω";

const RELATIONS: &str = "
    nsubset ⊄ nsupset ⊅ nsqsubseteq ⋢ nsqsupseteq ⋣ sqsubsetneq ⋤ sqsupsetneq ⋥ nequiv ≢
    napprox ≉ nsimeq ≄ nasymp ≭ nni ∌ notowner ∌ nlesssim ≴ ngtrsim ≵ nlessgtr ≸ ngtrless ≹
    ntrianglelefteqslant ⋬ ntrianglerighteqslant ⋭ npreccurlyeq ⋠ nsucccurlyeq ⋡ 
    trianglelefteqslant ⊴ trianglerighteqslant ⊵ veeeq ≚ wedgeq ≙ corresponds ≙ questeq ≟
    eqdef ≝ defeq ≝ stareq ≛ arceq ≘ measeq ≞ equalparallel ⋕ Equiv ≣ backcong ≌ lesseqslant ⩽
    lllt ⋘ smallin ∊ smallni ∍ isinE ⋹ disin ⋲ varisins ⋳ nis ⋼ bagmember ⋿ prurel ⊰ scurel ⊱
    sinewave ∿ assert ⊦ Vbar ⫫ barV ⫪ Perp ⫫ independent ⫫ indep ⫫ forks ⫝̸
    topbot ⌶ shuffle ⧢ approxident ≋ hermitmatrix ⊹ eqgtr ⋝ eqless ⋜ subsetcirc ⟃ supsetcirc ⟄
    Colon ∷ dotequiv ⩧ equivDD ⩸ ddotseq ⩷ eqeq ⩵ eqeqeq ⩶ congdot ⩭ kernelcontraction ∻
    lesges ⪓ gesles ⪔ lescc ⪨ smt ⪪ lat ⪫ Prec ⪻ Succ ⪼ preceqq ⪳ succeqq ⪴ pointint ⨕
    lsqhook ⫍ rsqhook ⫎ vBar ⫨ Barv ⫧ vDdash ⫢ VDash ⊫ dashV ⫣ Dashv ⫤ DashV ⫥ revnmid ⫮
    cirmid ⫯ threedotcolon ⫶ simneqq ≆ hateq ≙ wasypropto ∝ inversed ∽";

const ARROWS: &str = "
    mapsfrom ↤ Mapsto ⤇ Mapsfrom ⤆ longmapsfrom ⟻ Longmapsto ⟾ Longmapsfrom ⟽
    leftsquigarrow ⇜ longrightsquigarrow ⟿ leftwavearrow ↜ rightwavearrow ↝ updownarrows ⇅
    dblarrowupdown ⇅ downuparrows ⇵ updownharpoons ⥮ leftarrowtriangle ⇽ rightarrowtriangle ⇾
    leftrightarrowtriangle ⇿ leftrightarroweq ⥂ Nwarrow ⇖ Nearrow ⇗ Searrow ⇘ Swarrow ⇙ mapsup ↥
    mapsdown ↧ rightdasharrow ⇢ leftdasharrow ⇠ updasharrow ⇡ downdasharrow ⇣ leftwhitearrow ⇦
    upwhitearrow ⇧ rightwhitearrow ⇨ downwhitearrow ⇩ barleftarrow ⇤ rightarrowbar ⇥
    cwopencirclearrow ↻ acwopencirclearrow ↺ nvrightarrow ⇸
    nvleftarrow ⇷ nVrightarrow ⇻ pfun ⇸ ffun ⇻ pinj ⤔ finj ⤕ bij ⤖ psurj ⤀ shortrightarrow →
    shortleftarrow ← shortuparrow ↑ shortdownarrow ↓ linefeed ↴ Ldsh ↲ Rdsh ↳ downzigzagarrow ↯
    twoheadmapsto ⤅ twoheaduparrow ↟ twoheaddownarrow ↡ Uuparrow ⤊ Ddownarrow ⤋ rightarrowplus ⥅
    leftrightharpoonup ⥎ leftrightharpoondown ⥐ dashedrightarrow ⇢ leadsfrom ⇜ Longleadsto ⟿
    rightthreearrows ⇶ circleonrightarrow ⇴ conjquantarrow ⇒ nHuparrow ⇞ nHdownarrow ⇟
    longleftrightarrows ⇄ lrharpoons ⇋ xrightleftharpoon ⇌ equilibrium ⇌ longrightleftharpoons ⇌
    rightupharpoon ↾ rightdownharpoon ⇂";

const OPERATORS: &str = "
    boxast ⧆ boxslash ⧄ boxbslash ⧅ boxbar ◫ boxcircle ⧇ boxbox ⧈ boxdiag ⧄ oast ⊛ ocirc ⊚
    circledequal ⊜ circleddot ⊙ obar ⌽ obslash ⦸ olessthan ⧀ ogreaterthan ⧁ varoast ⊛ varotimes ⊗
    varoplus ⊕ varominus ⊖ varodot ⊙ varoslash ⊘ varocircle ⊚ fatsemi ⨟ fcmp ⨾ zcmp ⨟ interleave ⫴
    sslash ⫽ varparallel ⫽ bbslash ⑊ talloblong ⫾ dotminus ∸ minusdot ⨪ plusdot ⨥ pluseqq ⩲
    dblplus ⧺ doubleplus ⧺ concat ⧺ tripleplus ⧻ tplus ⧾ tminus ⧿ divslash ∕ fraction ⁄ xor ⊻
    nand ⊼ nor ⊽ barvee ⊽ veeonwedge ⩙ wedgeonwedge ⩕ veeonvee ⩖ Wedge ⩓ Vee ⩔ invamp ⅋ parr ⅋
    upand ⅋ bindnasrepma ⅋ lJoin ⋉ rJoin ⋊ ljoin ⟕ leftouterjoin ⟕ rightouterjoin ⟖ fullouterjoin ⟗
    join ⨝ smashtimes ⨳ vectimes ⨯ dottimes ⨰ cupdot ⊍ capdot ⩀ cupplus ⊎ cupleftarrow ⊌ sqcupplus ⊎
    intprod ⨼ intprodr ⨽ leftslice ⪦ rightslice ⪧ smwhtdiamond ⋄ smblkdiamond ⬩ smwhtcircle ◦
    vysmblkcircle ∙ vysmwhtcircle ∘ convolution ∗ setdif ∖ bslash ∖ ltimesblack ⧔ divonomath ⋇
    bigtriangleleft ◁ bigtriangleright ▷ triangleplus ⨹ triangleminus ⨺ triangletimes ⨻ odiv ⨸
    odotslashdot ⦼ obot ⦺ opluslhrim ⨭ oplusrhrim ⨮ otimeslhrim ⨴ otimesrhrim ⨵ Otimes ⨷ eqqplus ⩱
    circledvert ⦶ circledparallel ⦷ hourglass ⧖ blackhourglass ⧗ threedotcolonbin ⫶ trslash ⫻
    nhVvert ⫵ wreath ≀ lessdotbin ⋖ uplusdot ⊎ dsol ⧶ rsolbar ⧷ simplus ⨤ plussim ⨦";

const LARGE: &str = "
    iiiint ⨌ idotsint ∫⋯∫ fint ⨏ dashint ⨍ intbar ⨍ intBar ⨎ sqint ⨖ awint ⨑ intclockwise ∱
    varointclockwise ∲ ointclockwise ∲ ointctrclockwise ∳ varointctrclockwise ∳ varoiint ∯
    sumint ⨋ intlarhk ⨗ intx ⨘ intcap ⨙ intcup ⨚ upint ⨛ lowint ⨜ rppolint ⨒ bigsqcap ⨅
    bigtimes ⨉ bigcupdot ⨃ bigbot ⟘ bigtop ⟙ Bbbsum ⅀ disjquant ⨈ conjquant ⨇ xsol ⧸ xbsol ⧹
    bigtalloblong ⫿ biginterleave ⫼ bigslopedvee ⩗ modtwosum ⨊ merge ⨇ leftouter ⟕ bigwith &
    bigparr ⅋ bigast ∗";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_katex_has_for_mathematics_is_left_to_it() {
        for (name, ..) in extra() {
            let command = format!("\\{name}");
            assert!(super::super::KATEX.symbols.get_math(&command).is_none(), "{command}");
        }
    }

    #[test]
    fn the_tables_are_pairs_of_a_name_and_a_character() {
        for (name, c, _) in extra() {
            assert!(name.bytes().all(|b| b.is_ascii_alphabetic()), "{name} {c}");
            assert!(
                !c.is_empty() && !c.starts_with(|c: char| c.is_ascii_alphabetic()),
                "{name} {c}"
            );
        }
    }
}
