package structural

import quantity "k8s.io/apimachinery/pkg/api/resource"

// SameQuantity reports whether two texts are the same quantity, such as 1000m and 1.
func SameQuantity(a, b string) bool {
	x, err := quantity.ParseQuantity(a)
	if err != nil {
		return false
	}
	y, err := quantity.ParseQuantity(b)
	return err == nil && x.Cmp(y) == 0
}
