public import Foundation
public import LogEngine

extension LogStoreError: LocalizedError {
  public var errorDescription: String? { description }
}

// Here and not in the engine, which does without Foundation.
extension StorageError: LocalizedError {
  public var errorDescription: String? { description }
  public var failureReason: String? {
    let parts = [
      explanation.expected.map { "Expected \($0)" }, explanation.found.map { "found \($0)" },
    ]
    .compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ") + "."
  }
  public var recoverySuggestion: String? { explanation.advice }
}
