//! Numbers and units as siunitx writes them, set as plain text: `\SI{3e8}{\metre\per\second}` is
//! `3 × 10⁸ m s⁻¹`.

use super::super::scripts;
use super::super::source::{Token, text};
use super::{Broken, Rewriter};

impl<'a> Rewriter<'a> {
    pub(super) fn number(&mut self) -> Result<(), Broken> {
        self.optional()?;
        let number = self.argument()?;
        self.show(&written_number(&text(&number)))
    }

    pub(super) fn unit(&mut self) -> Result<(), Broken> {
        self.optional()?;
        let unit = self.argument()?;
        self.show(&written_unit(&unit))
    }

    /// `\SI{number}{unit}`; a `\qty` with one argument only is that of physics, which adds
    /// nothing to what it holds.
    pub(super) fn quantity(&mut self, word: &str) -> Result<(), Broken> {
        self.source.take('*');
        if word == "qty"
            && !matches!(self.source.peek_solid(), Some(Token::Open | Token::Char('[')))
        {
            return Ok(());
        }
        self.optional()?;
        let number = self.argument()?;
        if self.source.peek() != Some(Token::Open) {
            self.source.push(Token::Close);
            self.source.push_all(&number);
            self.source.push(Token::Open);
            return Ok(());
        }
        let unit = self.argument()?;
        let unit = written_unit(&unit);
        let close = unit.starts_with(['°', '%', '′', '″']) && unit != "°C";
        let space = if close { "" } else { " " };
        self.show(&format!("{}{space}{unit}", written_number(&text(&number))))
    }

    pub(super) fn angle(&mut self) -> Result<(), Broken> {
        self.optional()?;
        let angle = self.argument()?;
        let angle = text(&angle);
        let parts = angle.split(';').zip(["°", "′", "″"]).filter(|(part, _)| !part.is_empty());
        let parts: String = parts.map(|(part, sign)| format!("{}{sign}", part.trim())).collect();
        self.show(&parts)
    }
}

/// `1.5e-3` as 1.5 × 10⁻³, `+-` as ±.
fn written_number(number: &str) -> String {
    let number: String = number.chars().filter(|c| !c.is_whitespace()).collect();
    let number = number.replace("+-", " ± ").replace(r"\pm", " ± ").replace('x', " × ");
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (number.as_str(), None),
    };
    let mantissa = mantissa.replace('-', "−");
    let Some(raised) = exponent.and_then(|e| scripts::superscript(e.trim_start_matches('+')))
    else {
        return mantissa;
    };
    if mantissa.is_empty() { format!("10{raised}") } else { format!("{mantissa} × 10{raised}") }
}

/// A unit of macros, or one written out.
fn written_unit(tokens: &[Token]) -> String {
    let mut out = String::new();
    let mut per = false;
    let mut power: Option<String> = None;
    let mut prefix = "";
    let mut tokens = tokens.iter().copied().peekable();
    while let Some(token) = tokens.next() {
        match token {
            Token::Word("per") => per = true,
            Token::Word("square") => power = Some("2".to_owned()),
            Token::Word("cubic") => power = Some("3".to_owned()),
            Token::Word("squared") => raise(&mut out, "2"),
            Token::Word("cubed") => raise(&mut out, "3"),
            Token::Word("tothe" | "raiseto") => {
                let inner = tokens.by_ref().take_while(|t| *t != Token::Close);
                let inner: Vec<Token> = inner.filter(|t| *t != Token::Open).collect();
                raise(&mut out, text(&inner).trim());
            }
            Token::Word(word) => {
                if let Some(known) = lookup(PREFIXES, word) {
                    prefix = known;
                    continue;
                }
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(std::mem::take(&mut prefix));
                match lookup(UNITS, word) {
                    Some(known) => out.push_str(known),
                    None => out.push_str(word),
                }
                let n = power.take().unwrap_or_else(|| "1".to_owned());
                if std::mem::take(&mut per) {
                    out.push_str(&scripts::superscript(&format!("-{n}")).unwrap_or_default());
                } else if n != "1" {
                    raise(&mut out, &n);
                }
            }
            Token::Char('^') => {
                let mut digits = String::new();
                while let Some(Token::Char(c)) = tokens
                    .next_if(|t| matches!(t, Token::Char('0'..='9' | '-')) || *t == Token::Open)
                {
                    digits.push(c);
                }
                raise(&mut out, &digits);
            }
            Token::Char('.' | '~') => out.push(' '),
            Token::Escape('%') => out.push('%'),
            Token::Escape(_) | Token::Space => out.push(' '),
            Token::Char(c) => out.push(c),
            Token::Open | Token::Close => {}
            Token::Verbatim(text) => out.push_str(text),
        }
    }
    out.trim().to_owned()
}

/// Multiplies a power into what the unit may already carry: `\per\second\squared` is s⁻².
fn raise(out: &mut String, power: &str) {
    if out.ends_with("⁻¹") && power != "1" {
        out.truncate(out.len() - '¹'.len_utf8());
    }
    out.push_str(&scripts::superscript(power).unwrap_or_else(|| power.to_owned()));
}

fn lookup(table: &'static str, word: &str) -> Option<&'static str> {
    let mut words = table.split_whitespace();
    while let (Some(name), Some(symbol)) = (words.next(), words.next()) {
        if name == word {
            return Some(symbol);
        }
    }
    None
}

const PREFIXES: &str = "yocto y zepto z atto a femto f pico p nano n micro µ milli m centi c deci d \
    deca da hecto h kilo k mega M giga G tera T peta P exa E zetta Z yotta Y kibi Ki mebi Mi gibi Gi";

const UNITS: &str = "metre m meter m second s gram g kilogram kg ampere A kelvin K mole mol \
    candela cd hertz Hz newton N pascal Pa joule J watt W coulomb C volt V farad F ohm Ω siemens S \
    weber Wb tesla T henry H lumen lm lux lx becquerel Bq gray Gy sievert Sv katal kat radian rad \
    steradian sr degreeCelsius °C celsius °C degree ° arcminute ′ arcsecond ″ percent % litre L \
    liter L minute min hour h day d year yr electronvolt eV bar bar angstrom Å tonne t dalton Da \
    decibel dB bel B neper Np byte B bit bit hectare ha astronomicalunit au parsec pc lightyear ly \
    um µm us µs ug µg uA µA uV µV uW µW uL µL umol µmol ohmic Ω kohm kΩ Mohm MΩ atm atm mmHg mmHg";

#[cfg(test)]
mod tests {
    use super::super::super::source::Source;
    use super::*;

    fn unit(source: &str) -> String {
        let mut source = Source::new(source);
        let tokens: Vec<Token> = std::iter::from_fn(|| source.next()).collect();
        written_unit(&tokens)
    }

    #[test]
    fn units_carry_prefixes_and_powers() {
        assert_eq!(unit(r"\kilo\gram\metre\per\second\squared"), "kg m s⁻²");
        assert_eq!(unit(r"\kilo\metre\per\hour"), "km h⁻¹");
        assert_eq!(unit(r"\square\metre"), "m²");
        assert_eq!(unit(r"\per\cubic\metre"), "m⁻³");
        assert_eq!(unit("kg.m/s^2"), "kg m/s²");
    }

    #[test]
    fn numbers_show_their_exponent() {
        assert_eq!(written_number("3e8"), "3 × 10⁸");
        assert_eq!(written_number("-1.5e-3"), "−1.5 × 10⁻³");
        assert_eq!(written_number("5 +- 1"), "5 ± 1");
        assert_eq!(written_number("42"), "42");
    }
}
