// What libdrm makes of two devices.
#include "check.h"
#include <xf86drm.h>

int main(void) {
    drmDevicePtr devices[4];
    CHECK(drmGetDevices2(0, devices, 4) == 2);
    int seen = 0;
    for (int i = 0; i < 2; i++) {
        drmDevicePtr device = devices[i];
        CHECK(device->bustype == DRM_BUS_PCI);
        CHECK(device->available_nodes == (1 << DRM_NODE_PRIMARY | 1 << DRM_NODE_RENDER));
        int number = device->businfo.pci->domain;
        CHECK(number < 2 && device->businfo.pci->bus == 0 && device->businfo.pci->dev == 2);
        char name[32];
        snprintf(name, sizeof name, "/dev/dri/renderD%d", 128 + number);
        CHECK(!strcmp(device->nodes[DRM_NODE_RENDER], name));
        snprintf(name, sizeof name, "/dev/dri/card%d", number);
        CHECK(!strcmp(device->nodes[DRM_NODE_PRIMARY], name));
        CHECK(device->deviceinfo.pci->device_id == (number ? 0x0042 : 0x2a02));
        int fd = open(device->nodes[DRM_NODE_RENDER], O_RDWR | O_CLOEXEC);
        CHECK(fd >= 0 && drmGetNodeTypeFromFd(fd) == DRM_NODE_RENDER);
        drmDevicePtr same;
        CHECK(drmGetDevice2(fd, 0, &same) == 0 && drmDevicesEqual(device, same));
        CHECK(!drmDevicesEqual(same, devices[1 - i]));
        char *primary = drmGetPrimaryDeviceNameFromFd(fd);
        CHECK(primary && !strcmp(primary, name));
        seen |= 1 << number;
    }
    CHECK(seen == 3);
    return 0;
}
