#if !canImport(Darwin)
/// Runs a closure, as the function of this name does on Apple's platforms around loops that make many objects.
///
/// Linux has no autorelease pools: objects are released when the last reference to them goes.
///
/// - Parameter body: The closure.
/// - Returns: What it returns.
/// - Throws: What it throws.
@_disfavoredOverload
@inlinable
public func autoreleasepool<Failure: Error, Result: ~Copyable>(
  invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  try body()
}
#endif
