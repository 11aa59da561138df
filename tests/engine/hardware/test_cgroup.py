"""A control group's limit, in both versions' folders as the kernel lays them."""

import pytest

from engine.hardware import meters
from engine.hardware.cgroup import CgroupMemory, cgroup_memory

MIB = 1024**2


def lay_v2(folder, limit, usage, inactive=0):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{usage}\n")
    (folder / "memory.stat").write_text(f"anon 1\nfile 2\ninactive_file {inactive}\n")


def lay_v1(folder, limit, usage, inactive=0):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.limit_in_bytes").write_text(f"{limit}\n")
    (folder / "memory.usage_in_bytes").write_text(f"{usage}\n")
    (folder / "memory.stat").write_text(f"cache 1\ninactive_file 5\ntotal_inactive_file {inactive}\n")


@pytest.fixture
def membership(tmp_path):
    def write(text):
        path = tmp_path / "cgroup"
        path.write_text(text)
        return path

    return write


def test_a_second_version_limit_is_found_and_droppable_file_pages_count_as_available(tmp_path, membership):
    lay_v2(tmp_path / "fs/user.slice/app", 1000 * MIB, 700 * MIB, inactive=200 * MIB)
    found = cgroup_memory(membership("0::/user.slice/app\n"), tmp_path / "fs")
    assert found == CgroupMemory(limit=1000 * MIB, available=500 * MIB)


def test_a_tighter_ancestor_decides(tmp_path, membership):
    lay_v2(tmp_path / "fs/slice", 500 * MIB, 450 * MIB)
    lay_v2(tmp_path / "fs/slice/app", 1000 * MIB, 100 * MIB)
    found = cgroup_memory(membership("0::/slice/app\n"), tmp_path / "fs")
    assert found == CgroupMemory(limit=500 * MIB, available=50 * MIB)


def test_a_group_without_a_limit_has_none(tmp_path, membership):
    lay_v2(tmp_path / "fs/app", "max", 100 * MIB)
    assert cgroup_memory(membership("0::/app\n"), tmp_path / "fs") is None


def test_inside_a_container_the_mounts_root_is_its_own_group(tmp_path, membership):
    lay_v2(tmp_path / "fs", 300 * MIB, 100 * MIB)
    found = cgroup_memory(membership("0::/docker/0a1b2c\n"), tmp_path / "fs")
    assert found == CgroupMemory(limit=300 * MIB, available=200 * MIB)


def test_a_first_version_limit_is_found_beside_other_controllers(tmp_path, membership):
    lay_v1(tmp_path / "fs/memory/docker/x", 2000 * MIB, 900 * MIB, inactive=100 * MIB)
    lines = "5:cpuset:/\n4:memory:/docker/x\n9:name=systemd:/\n0::/\n"
    assert cgroup_memory(membership(lines), tmp_path / "fs") == CgroupMemory(limit=2000 * MIB, available=1200 * MIB)


def test_more_used_than_allowed_leaves_nothing(tmp_path, membership):
    lay_v2(tmp_path / "fs/app", 100 * MIB, 120 * MIB)
    assert cgroup_memory(membership("0::/app\n"), tmp_path / "fs") == CgroupMemory(limit=100 * MIB, available=0)


def test_a_system_without_control_groups_has_no_limit(tmp_path):
    assert cgroup_memory(tmp_path / "absent", tmp_path) is None


def test_a_path_that_leads_out_of_the_mount_is_not_followed(tmp_path, membership):
    lay_v2(tmp_path / "outside", 1 * MIB, 0)
    (tmp_path / "fs").mkdir()
    assert cgroup_memory(membership("0::/../outside\n"), tmp_path / "fs") is None


def test_the_meters_obey_a_limit_lower_than_the_machine(monkeypatch):
    monkeypatch.setattr(meters, "cgroup_memory", lambda: CgroupMemory(limit=64 * MIB, available=10 * MIB))
    assert meters.total_bytes() == 64 * MIB
    assert meters.available_bytes() == 10 * MIB
