/// Calls with the bytes of a key in the order in which bytes sort as numbers do.
func withBytes<Result>(
  ofKey key: UInt64,
  _ body: (UnsafePointer<CChar>?) throws -> Result
) rethrows -> Result {
  var bigEndian = key.bigEndian
  return try withUnsafeBytes(of: &bigEndian) { bytes in
    try body(bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
  }
}
