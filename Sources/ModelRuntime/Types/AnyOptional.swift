/// An optional that can be unwrapped without knowing its type.
protocol AnyOptional {
  var wrappedValue: Any? { get }
}

extension Optional: AnyOptional {
  var wrappedValue: Any? { self }
}
