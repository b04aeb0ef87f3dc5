import Dispatch
import Foundation

/// Identifies the threads that run the main actor's code.
///
/// The main thread is not always one of them: in a program with an asynchronous main, other threads serve the main queue.
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
