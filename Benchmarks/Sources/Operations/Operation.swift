import CCounters

/// Something small that a store does often.
struct Operation {
  let name: String
  /// Prepares the work, and returns what does it so many times.
  let prepare: () throws -> (_ count: Int) throws -> Void

  init(_ name: String, prepare: @escaping () throws -> (_ count: Int) throws -> Void) {
    self.name = name
    self.prepare = prepare
  }

  static var all: [Operation] { rows + engine + columns + models + graphs + queries }
}

/// Shows a value to code the optimizer cannot see, so that it must be found.
@inline(__always)
func use<Value>(_ value: Value) {
  withUnsafePointer(to: value) { keep($0) }
}
