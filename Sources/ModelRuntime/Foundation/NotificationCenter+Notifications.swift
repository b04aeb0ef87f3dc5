#if !canImport(Darwin)
public import Foundation

// The sequence of notifications that Foundation has on Apple's platforms, where apps wait with it for the saves of
// others: `for await _ in NotificationCenter.default.notifications(named: ModelContext.didSave)`.
extension NotificationCenter {
  /// Returns a sequence of the notifications of a name.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - object: The object that posts them; of any object if it is `nil`.
  /// - Returns: The sequence.
  @_disfavoredOverload
  public func notifications(
    named name: Notification.Name,
    object: AnyObject? = nil
  ) -> Notifications {
    Notifications(of: name, object: object, in: self)
  }

  /// A sequence of notifications, without an end unless its task is cancelled.
  ///
  /// Each iterator observes from its making on, and keeps what is posted until it is asked for it.
  public final class Notifications: AsyncSequence, @unchecked Sendable {
    private let name: Notification.Name
    private let object: AnyObject?
    private let center: NotificationCenter

    fileprivate init(
      of name: Notification.Name,
      object: AnyObject?,
      in center: NotificationCenter
    ) {
      self.name = name
      self.object = object
      self.center = center
    }

    public func makeAsyncIterator() -> Iterator {
      let (posted, continuation) = AsyncStream.makeStream(of: Posted.self)
      let token = center.addObserver(forName: name, object: object, queue: nil) {
        continuation.yield(Posted(notification: $0))
      }
      return Iterator(
        posted: posted.makeAsyncIterator(),
        observer: Observer(token: token, center: center)
      )
    }

    /// Hands out the notifications as they were posted.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate var posted: AsyncStream<Posted>.Iterator
      fileprivate let observer: Observer

      public mutating func next() async -> Notification? { await posted.next()?.notification }

      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async -> Notification? { await posted.next(isolation: actor)?.notification }
    }

    /// A notification on its way to the task that waits for it.
    ///
    /// It is handed over by the thread that posts it, as on Apple's platforms; what it holds has to be fit for that.
    fileprivate struct Posted: @unchecked Sendable { let notification: Notification }

    /// Observes for as long as an iterator has it.
    fileprivate final class Observer {
      private let token: any NSObjectProtocol
      private let center: NotificationCenter

      init(token: any NSObjectProtocol, center: NotificationCenter) {
        self.token = token
        self.center = center
      }

      deinit { center.removeObserver(token) }
    }
  }
}
#endif
