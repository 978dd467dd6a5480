package store

import (
	"container/list"
	"slices"
	"sync"

	"offcut/models"
)

const (
	// cachedOutputs is how many outputs' rows are kept at hand.
	cachedOutputs = 64
	// cachedPieces is how many pieces are: 2 MiB, a few readers' places.
	cachedPieces = 32
)

// outputEntry is an output with the number that its pieces go by.
type outputEntry struct {
	seq    int64
	output models.RetainedOutput
}

// copy is the output for a caller, who may change it.
func (e outputEntry) copy() models.RetainedOutput {
	o := e.output
	o.Gaps = slices.Clone(o.Gaps)
	return o
}

type outputKey struct{ sessionID, id string }

type pieceKey struct {
	output outputKey
	stream int
	n      int64
}

// cache holds what was read last of ended outputs, so that reading on by small
// pages does not ask the database for each. What still changes is not in it.
//
// A value that was read before something was forgotten may be out of date:
// every put names the generation at which its reading began, and is refused
// where anything was forgotten since.
type cache struct {
	mu      sync.Mutex
	forgets uint64
	outputs lru[outputKey, outputEntry]
	pieces  lru[pieceKey, []byte]
}

func newCache() *cache {
	return &cache{
		outputs: newLRU[outputKey, outputEntry](cachedOutputs),
		pieces:  newLRU[pieceKey, []byte](cachedPieces),
	}
}

func (c *cache) generation() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.forgets
}

func (c *cache) output(sessionID, id string) (outputEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outputs.get(outputKey{sessionID, id})
}

func (c *cache) putOutput(generation uint64, entry outputEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation == c.forgets {
		c.outputs.put(outputKey{entry.output.SessionID, entry.output.ID}, entry)
	}
}

func (c *cache) piece(key pieceKey) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pieces.get(key)
}

func (c *cache) hasPiece(key pieceKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.pieces.items[key]
	return ok
}

func (c *cache) putPiece(generation uint64, key pieceKey, bytes []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation == c.forgets {
		c.pieces.put(key, bytes)
	}
}

// forgetOutput is called after an output was changed or removed.
func (c *cache) forgetOutput(sessionID, id string) {
	c.forget(func(key outputKey) bool { return key == outputKey{sessionID, id} })
}

// forgetSession is called after a session was removed.
func (c *cache) forgetSession(sessionID string) {
	c.forget(func(key outputKey) bool { return key.sessionID == sessionID })
}

func (c *cache) forget(which func(outputKey) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgets++
	c.outputs.removeWhere(which)
	c.pieces.removeWhere(func(key pieceKey) bool { return which(key.output) })
}

// lru is a map that keeps the entries that were used last.
type lru[K comparable, V any] struct {
	most  int
	items map[K]*list.Element // of lruItem
	order *list.List          // the one used last is in front
}

type lruItem[K comparable, V any] struct {
	key   K
	value V
}

func newLRU[K comparable, V any](most int) lru[K, V] {
	return lru[K, V]{most: most, items: map[K]*list.Element{}, order: list.New()}
}

func (l lru[K, V]) get(key K) (V, bool) {
	element, ok := l.items[key]
	if !ok {
		var none V
		return none, false
	}
	l.order.MoveToFront(element)
	return element.Value.(lruItem[K, V]).value, true
}

func (l lru[K, V]) put(key K, value V) {
	l.remove(key)
	if l.order.Len() >= l.most {
		l.remove(l.order.Back().Value.(lruItem[K, V]).key)
	}
	l.items[key] = l.order.PushFront(lruItem[K, V]{key, value})
}

func (l lru[K, V]) remove(key K) {
	if element, ok := l.items[key]; ok {
		l.order.Remove(element)
		delete(l.items, key)
	}
}

func (l lru[K, V]) removeWhere(which func(K) bool) {
	for key := range l.items {
		if which(key) {
			l.remove(key)
		}
	}
}
