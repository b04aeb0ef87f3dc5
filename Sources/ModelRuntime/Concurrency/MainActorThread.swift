import Dispatch
import Foundation

/// Knows the threads that run the main actor's code.
///
/// It need not be the main thread: a program whose main is asynchronous has other threads serve the main queue.
enum MainActorThread {
  private static let mark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Whether this thread runs the main actor's code.
  static var isCurrent: Bool {
    Thread.isMainThread || DispatchQueue.getSpecific(key: mark) == true
  }
}
