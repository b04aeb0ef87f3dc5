#if PostgreSQL
public import ModelRuntime

extension PostgresStore: RemoteSaveReporting {
  public func observeRemoteSaves(
    _ arrival: @escaping @Sendable () -> Void
  ) -> (any AnyObject & Sendable)? {
    isObservable ? makeWatch(after: newestSave, arrival) : nil
  }

  /// Whether there can be saves of others: none can be made while a migration is under way, and a store that was closed has no
  /// sessions.
  private var isObservable: Bool { migration == nil && !savesUnderWay.isClosed }

  private var remoteSaves: RemoteSaves {
    RemoteSaves(namespace: configuration.namespace.quotedName, source: source, horizon: horizon)
  }

  /// The save from which on others count: what is saved before a watch has a session of its own counts, too.
  private var newestSave: Int64 {
    let saves = remoteSaves
    let result = try? pool.retrying {
      try $0.run([saves.newest(before: saves.horizon.read($0))])[0]
    }
    return result?.integer(0, 0) ?? 0
  }

  private func makeWatch(
    after number: Int64,
    _ arrival: @escaping @Sendable () throws -> Void
  ) -> RemoteSaveWatch {
    let target = RemoteSaveWatch.Target(
      url: configuration.url,
      channel: channel,
      saves: remoteSaves,
      after: number
    )
    let watch = RemoteSaveWatch(target, arrival)
    watches.add(watch)
    // The closing has stopped those that it found, and may not have found this one.
    if savesUnderWay.isClosed { watch.stop() }
    return watch
  }
}

extension PostgresStore: RemoteRowReporting {
  package func observeRemoteRows(
    _ note: @escaping @Sendable (ChangedRows) -> [@Sendable () -> Void]
  ) -> (any AnyObject & Sendable)? {
    guard isObservable else { return nil }
    let number = newestSave
    let feed = RemoteRowFeed(remoteSaves, after: number, pool, note)
    feed.follow(makeWatch(after: number) { [weak feed] in try feed?.look() })
    feeds.add(feed)
    return feed
  }

  package func lookForRemoteSaves() {
    // The watch notes later what cannot be read now.
    for feed in feeds.all { try? feed.look() }
  }
}
#endif
