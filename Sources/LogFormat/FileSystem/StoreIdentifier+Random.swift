extension StoreIdentifier {
  /// Draws the identifier of a new store.
  public static func random(from fileSystem: some FileSystem) -> StoreIdentifier {
    StoreIdentifier(low: fileSystem.randomBits(), high: fileSystem.randomBits())
  }
}
