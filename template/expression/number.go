package expression

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// numberText formats a number as JavaScript does.
func numberText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0"
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return exponent(strconv.FormatFloat(f, 'e', -1, 64))
}

// exponent converts an exponent of Go, e+07, to that of JavaScript, e+7.
func exponent(s string) string {
	mantissa, digits, ok := strings.Cut(s, "e")
	if !ok {
		return s
	}
	digits = digits[:1] + strings.TrimLeft(digits[1:], "0")
	if len(digits) == 1 {
		digits += "0"
	}
	return mantissa + "e" + digits
}

// readNumber parses a whole text as a number, NaN if it is not one.
func readNumber(s string) float64 {
	s = strings.TrimFunc(s, isSpace)
	if s == "" {
		return 0
	}
	if len(s) > 2 && s[0] == '0' {
		if base := map[byte]int{'x': 16, 'X': 16, 'o': 8, 'O': 8, 'b': 2, 'B': 2}[s[1]]; base != 0 {
			return readDigits(s[2:], base)
		}
	}
	if n := decimalLength(s); n != len(s) {
		return math.NaN()
	}
	return decimal(s)
}

// decimal parses a text that decimalLength accepted.
func decimal(s string) float64 {
	if i := strings.Index(s, "Infinity"); i >= 0 {
		return math.Inf(map[bool]int{true: -1, false: 1}[s[0] == '-'])
	}
	// Out of range is Infinity, as in JavaScript.
	f, _ := strconv.ParseFloat(s, 64)
	return f
}

// decimalLength returns the length of the decimal number at the beginning of s.
func decimalLength(s string) int {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	if strings.HasPrefix(s[i:], "Infinity") {
		return i + len("Infinity")
	}
	digits := func() (n int) {
		for i < len(s) && isDigit(s[i]) {
			i++
			n++
		}
		return n
	}
	n := digits()
	if i < len(s) && s[i] == '.' {
		i++
		more := digits()
		if n+more == 0 {
			return 0
		}
		n += more
	}
	if n == 0 {
		return 0
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		before := i
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if digits() == 0 {
			i = before
		}
	}
	return i
}

// readDigits parses a text of digits in a base, NaN if it contains others.
func readDigits(s string, base int) float64 {
	n, length := digitsAt(s, base)
	if length == 0 || length != len(s) {
		return math.NaN()
	}
	return n
}

// digitsAt parses the digits in a base at the beginning of s.
func digitsAt(s string, base int) (f float64, length int) {
	for length < len(s) {
		d := 99
		switch c := s[length] | 0x20; {
		case isDigit(s[length]):
			d = int(s[length] - '0')
		case c >= 'a' && c <= 'z':
			d = int(c-'a') + 10
		}
		if d >= base {
			break
		}
		length++
	}
	if length == 0 {
		return 0, 0
	}
	const fits = 10
	if length <= fits {
		i, _ := strconv.ParseInt(s[:length], base, 64)
		return float64(i), length
	}
	// No finite number has more digits, and parsing very many is slow.
	const most = 1100
	if length > most {
		return math.Inf(1), length
	}
	i, _ := new(big.Int).SetString(s[:length], base)
	f, _ = new(big.Float).SetInt(i).Float64()
	return f, length
}

// parseInt parses the integer at the beginning of s, NaN if there is none.
func parseInt(s string, base float64) float64 {
	s = strings.TrimLeftFunc(s, isSpace)
	sign := 1.0
	if s != "" && (s[0] == '+' || s[0] == '-') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	radix := int(toInt32(base))
	if radix == 0 || radix == 16 {
		if len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x' {
			s, radix = s[2:], 16
		}
	}
	if radix == 0 {
		radix = 10
	}
	if radix < 2 || radix > 36 {
		return math.NaN()
	}
	n, length := digitsAt(s, radix)
	if length == 0 {
		return math.NaN()
	}
	return sign * n
}

// parseFloat parses the number at the beginning of s, NaN if there is none.
func parseFloat(s string) float64 {
	s = strings.TrimLeftFunc(s, isSpace)
	n := decimalLength(s)
	if n == 0 {
		return math.NaN()
	}
	return decimal(s[:n])
}

// toInt32 converts a number as the bitwise operators of JavaScript do.
func toInt32(f float64) int32 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return int32(uint32(int64(math.Mod(math.Trunc(f), 1<<32))))
}

// round rounds as JavaScript does: halves are rounded up.
func round(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) >= 1<<52 {
		return f
	}
	whole := math.Floor(f)
	if f-whole >= 0.5 {
		whole++
	}
	return whole
}

// inBase formats a number in a base, with as many fractional digits as distinguish it
// from its neighbours.
func inBase(f float64, base int) string {
	if base == 10 || math.IsNaN(f) || math.IsInf(f, 0) {
		return numberText(f)
	}
	sign := ""
	if f < 0 {
		sign, f = "-", -f
	}
	whole, fraction := math.Modf(f)
	i, _ := big.NewFloat(whole).Int(nil)
	out := sign + i.Text(base)
	if fraction == 0 {
		return out
	}
	var digits []byte
	for least := math.Max(0.5*(math.Nextafter(f, math.Inf(1))-f), 5e-324); fraction >= least; {
		fraction *= float64(base)
		least *= float64(base)
		d := math.Floor(fraction)
		digits = append(digits, strconv.FormatInt(int64(d), base)...)
		fraction -= d
		if fraction > 0.5 && fraction+least > 1 {
			return out + "." + carry(digits, base)
		}
	}
	return out + "." + string(digits)
}

// carry increments the last of the digits, with carry.
func carry(digits []byte, base int) string {
	for len(digits) > 0 {
		last := len(digits) - 1
		d, _ := strconv.ParseInt(string(digits[last]), base, 64)
		if int(d)+1 < base {
			digits[last] = strconv.FormatInt(d+1, base)[0]
			break
		}
		digits = digits[:last]
	}
	return string(digits)
}
