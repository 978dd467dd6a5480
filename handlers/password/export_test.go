package password

// TakeSlots takes every slot, as MaxConcurrent sign-ins would.
func TakeSlots() (release func()) {
	for range MaxConcurrent {
		slots <- struct{}{}
	}
	return func() {
		for range MaxConcurrent {
			<-slots
		}
	}
}
