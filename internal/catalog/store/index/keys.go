package index

import (
	"maps"
	"sync"
)

// Keys caches the numbers of keys, which never change in the database.
type Keys struct {
	mu     sync.RWMutex
	number map[string]int64
}

// Get returns the number of a key, if it is cached.
func (k *Keys) Get(key string) (int64, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	n, ok := k.number[key]
	return n, ok
}

// All returns the numbers of keys, if all of them are cached.
func (k *Keys) All(keys []string) (map[string]int64, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	numbers := make(map[string]int64, len(keys))
	for _, key := range keys {
		n, ok := k.number[key]
		if !ok {
			return nil, false
		}
		numbers[key] = n
	}
	return numbers, true
}

// Put caches the numbers of keys. These must be of committed rows only.
func (k *Keys) Put(numbers map[string]int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.number == nil {
		k.number = map[string]int64{}
	}
	maps.Copy(k.number, numbers)
}
