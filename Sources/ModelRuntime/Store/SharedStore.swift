/// A store that several containers of this process can have open together.
package protocol SharedStore: AnyObject {
  /// Finds the object that these containers have in common, or makes it.
  ///
  /// - Parameter make: Makes the object, for the first container.
  /// - Returns: The object.
  func common(_ make: () -> any AnyObject & Sendable) -> any AnyObject & Sendable
}
