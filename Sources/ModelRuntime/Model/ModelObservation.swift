public final class _ObservationBox {}
@inlinable public var _isTracking: Bool { false }
func _notifyChange<M: PersistentModel>(of model: M, _ keyPath: PartialKeyPath<M>) {}
