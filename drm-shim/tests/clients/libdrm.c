// What libdrm makes of the device.
#include "check.h"
#include <xf86drm.h>

int main(void) {
    drmDevicePtr devices[4];
    CHECK(drmGetDevices2(0, devices, 4) == 1);
    drmDevicePtr device = devices[0];
    CHECK(device->bustype == DRM_BUS_PCI);
    CHECK(device->available_nodes == (1 << DRM_NODE_PRIMARY | 1 << DRM_NODE_RENDER));
    CHECK(!strcmp(device->nodes[DRM_NODE_RENDER], "/dev/dri/renderD128"));
    CHECK(device->businfo.pci->dev == 2 && device->businfo.pci->bus == 0);
    CHECK(device->deviceinfo.pci->vendor_id == 0x8086);
    CHECK(device->deviceinfo.pci->device_id == 0x2a02);
    int fd = open(device->nodes[DRM_NODE_RENDER], O_RDWR | O_CLOEXEC);
    CHECK(drmGetNodeTypeFromFd(fd) == DRM_NODE_RENDER);
    char *name = drmGetDeviceNameFromFd2(fd);
    CHECK(name && !strcmp(name, "/dev/dri/renderD128"));
    drmDevicePtr same;
    CHECK(drmGetDevice2(fd, 0, &same) == 0 && drmDevicesEqual(device, same));
    drmVersionPtr version = drmGetVersion(fd);
    CHECK(version && version->version_major == 1 && version->version_minor == 6);
    CHECK(!strcmp(version->name, "i915"));
    return 0;
}
