public import Foundation
public import SwiftData

/// A model with a value that may be in a file of its own.
@Model
final public class Photo {
  public var number: Int
  @Attribute(.externalStorage) public var bytes: Data

  public init(number: Int, bytes: Data) {
    self.number = number
    self.bytes = bytes
  }
}
