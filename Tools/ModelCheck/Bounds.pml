/*
 * Bounds: one of several processes compacts, the others go on reading what their views need.
 *
 * Each commit replaces the one row and has a segment of its own: as of commit n the row is n, and segment n has it. A
 * compaction up to commit w makes a pack that has the row as of w, publishes a manifest that names it, and removes the
 * segments up to w. Members look at the store as of a commit, catch up between turns and in turns, look at earlier
 * commits, are killed and join again; so is the compactor. The steps are those of the protocol of turns (see Turns).
 * That what is published is on disk before something is removed shows Compaction.
 *
 * Every loop comes to an end, so that no state is a dead end shows that the others go on.
 *
 *   -DHISTORY     members look at earlier commits, too (StorageEngine.makeReadView(at:))
 *   -DPLANT_…     a planted fault; see Faults
 */
#ifndef COMMITS
#define COMMITS 3
#endif
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef OPERATIONS
#define OPERATIONS 3
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef COMPACTORS
#define COMPACTORS 1
#endif
#define COMPACTIONS 2
#define NONE 15
#define bit(number) (1 << (number))
#define upTo(commit) (bit((commit) + 1) - 1)
#define least(a, b) ((a) < (b) -> (a) : (b))

/* The files: which segments, packs and manifests there are; up to which commit a pack or a manifest's pack goes. */
byte segments = 2;
byte packs;
byte manifests = 1;
byte packEnd[COMPACTIONS + 1];
byte manifestPack[COMPACTIONS + 1];
byte appended = 1;

/* TURN */
byte turn = NONE;
byte recordHolder = NONE, recordManifest, recordNext = 1;
/* members/N: which are locked, and what they say. */
byte locked;
byte bound[MEMBERS];
/* COMPACTION */
byte compacting = NONE;

byte operations, deaths, compactions;

inline mayDie()
{
  if
  :: skip
  :: deaths < DEATHS -> deaths++; goto died
  fi
}

#define newest(mask) ((mask) & 4 -> 2 : ((mask) & 2 -> 1 : 0))

/* T1 to T4, but for what a member reads */
inline beginTurn()
{
  atomic {
    turn == NONE -> turn = _pid;
#ifdef PLANT_RECORD_BELIEVED_ABOUT_MANIFEST
    number = recordManifest;
#else
    /* R: the one who died may have published a manifest. */
    number = (recordHolder == NONE -> recordManifest : newest(manifests));
#endif
    recordHolder = _pid;
    assert(number == newest(manifests));
    mayDie()
  }
}

/* T6, T7 */
inline endTurn()
{
  atomic { recordManifest = number; recordHolder = NONE; turn = NONE; number = 0; mayDie() }
}

/* What the view needs is there: the row as of it is in an open segment, or in the pack. */
inline look()
{
  atomic {
    assert(view == 0 || view == base || (view > base && (open & bit(view))));
    assert(visible == base || (visible > base && (open & bit(visible))))
  }
}

/* Follower.refresh(), in a turn or between turns */
inline catchUp()
{
  position = visible;
  do
  :: atomic { position < appended ->
      /* Follower.checkIsNotLeftBehind(_:) */
      assert(segments & bit(position + 1));
      position++; open = open | bit(position) }
  :: atomic { else -> break }
  od;
#ifdef PLANT_BOUND_RAISED_BEFORE_VISIBLE
  bound[self] = (view == 0 -> position : view);
  /* Another thread looks at what is visible. */
  if
  :: view == 0 -> view = visible
  :: skip
  fi;
#endif
  atomic { visible = position; position = 0 };
  /* Follower.findBase(_:): if a pack is gone, there is a newer manifest. */
  do
  :: found = newest(manifests);
    if
    :: atomic { manifestPack[found] == 0 || packs & bit(manifestPack[found]) -> break }
    :: atomic { else -> assert(newest(manifests) > found) }
    fi
  od;
  /* Follower.takeUpBase(_:): nothing here needs what is before it. */
  atomic {
    assert(packEnd[manifestPack[found]] <= visible);
    assert(view == 0 || packEnd[manifestPack[found]] <= view);
    base = packEnd[manifestPack[found]]; open = open & ~upTo(base); found = 0
  };
#ifndef PLANT_BOUND_RAISED_BEFORE_VISIBLE
  bound[self] = (view == 0 -> visible : view)
#endif
}

proctype Member(byte self)
{
  byte visible, position, base, view, number, found, past;
  byte open;
join:
  /* J: catches up in a turn; its bound is the newest commit. */
  beginTurn();
#ifndef PLANT_MEMBER_LOCKED_AFTER_TURN
  atomic { locked = locked | bit(self); mayDie() };
#endif
  /* What was there is of a former member, and lower. */
  atomic { bound[self] = appended; mayDie() };
  visible = appended;
  base = packEnd[manifestPack[number]];
  atomic {
    assert(base == 0 || packs & bit(manifestPack[number]));
    open = segments & ~upTo(base);
    assert((open | upTo(base)) == upTo(appended));
    mayDie()
  };
  endTurn();
#ifdef PLANT_MEMBER_LOCKED_AFTER_TURN
  locked = locked | bit(self);
#endif
  do
  :: operations < OPERATIONS ->
    if
    /* A view, and what it needs. */
    :: atomic { view == 0 -> operations++; view = visible }
    :: atomic { view != 0 -> operations++; view = 0 }
    /* T5: a commit */
    :: atomic { appended < COMMITS -> operations++ };
      beginTurn();
      catchUp();
      atomic { appended++; segments = segments | bit(appended); mayDie() };
      endTurn()
    /* Between turns */
    :: operations++; catchUp(); mayDie()
#ifdef HISTORY
    :: atomic { view == 0 && visible > 1 && base < visible - 1 -> operations++ };
#ifndef PLANT_EARLIER_COMMIT_WITHOUT_TURN
      beginTurn();
#endif
      atomic { bound[self] = visible - 1; mayDie() };
      if
#ifdef PLANT_EARLIER_COMMIT_WITHOUT_TURN
      :: atomic { packEnd[manifestPack[newest(manifests)]] <= visible - 1 -> view = visible - 1 }
#else
      :: atomic { packEnd[manifestPack[number]] <= visible - 1 -> view = visible - 1 }
#endif
      :: else -> bound[self] = visible
      fi;
#ifndef PLANT_EARLIER_COMMIT_WITHOUT_TURN
      endTurn()
#endif
#endif
    fi;
    look()
  :: else -> break
  od;
  atomic { locked = locked & ~bit(self); goto finished };
died:
  atomic {
    locked = locked & ~bit(self);
    if :: turn == _pid -> turn = NONE :: else fi;
    visible = 0; position = 0; base = 0; view = 0; number = 0; found = 0; open = 0
  };
  goto join;
finished:
  skip
}

/* The commits that no member needs one by one. */
inline lowWaterMark(mark)
{
  mark = appended;
#ifndef PLANT_BOUNDS_IGNORED
  i = 0;
  do
  :: i < MEMBERS -> if :: locked & bit(i) -> mark = least(mark, bound[i]) :: else fi; i++
  :: else -> break
  od;
  i = 0
#endif
}

proctype Compactor()
{
  byte number, pack, mark, again, i;
begin:
#ifdef PLANT_COMPACTION_NOT_LOCKED
  skip;
#else
  atomic { compacting == NONE -> compacting = _pid };
#endif
  do
  :: atomic { compactions < COMPACTIONS -> compactions++ };
    beginTurn();
    atomic { lowWaterMark(mark); mayDie() };
    if
    :: mark <= packEnd[manifestPack[number]] -> mark = 0; endTurn()
    :: else ->
      atomic { pack = recordNext; recordNext++; mayDie() };
      endTurn();
      /* A step of the fold */
      beginTurn();
      atomic { assert(!(packs & bit(pack))); packs = packs | bit(pack); packEnd[pack] = mark; mayDie() };
      endTurn();
      /* Publishing */
      beginTurn();
#ifndef PLANT_BOUNDS_NOT_ASKED_AGAIN
      atomic { lowWaterMark(again); mayDie() };
#else
      again = mark;
#endif
      if
      :: atomic { again < mark -> packs = packs & ~bit(pack) }; again = 0; mark = 0; pack = 0; endTurn()
      :: else ->
#ifdef PLANT_REMOVED_BEFORE_MANIFEST
        atomic { segments = segments & ~upTo(mark); mayDie() };
#endif
        atomic {
          again = manifestPack[number]; number++;
          assert(!(manifests & bit(number)));
          manifestPack[number] = pack; manifests = manifests | bit(number);
          mayDie()
        };
        endTurn();
        atomic { segments = segments & ~upTo(mark); mayDie() };
        atomic { packs = packs & ~bit(again); again = 0; mark = 0; pack = 0; mayDie() }
      fi
    fi
  :: else -> break
  od;
  goto finished;
died:
  atomic {
    if :: turn == _pid -> turn = NONE :: else fi;
    if :: compacting == _pid -> compacting = NONE :: else fi;
    number = 0; pack = 0; mark = 0; again = 0; i = 0
  };
  goto begin;
finished:
#ifndef PLANT_COMPACTION_NOT_LOCKED
  compacting = NONE
#else
  skip
#endif
}

init
{
  atomic {
    byte j;
    do
    :: j < MEMBERS -> run Member(j); j++
    :: else -> break
    od;
    j = 0;
    do
    :: j < COMPACTORS -> run Compactor(); j++
    :: else -> break
    od
  }
}
